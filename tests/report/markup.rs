//! Enough of an HTML reader for the pages that `recount report` writes: it writes every end tag and quotes every attribute.

/// Elements without an end tag.
const VOID: [&str; 2] = ["meta", "br"];

/// Fails unless tags are balanced, ids unique and headings in order, nothing is loaded, and nothing can run.
pub(crate) fn check(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:"));
    for loads in ["http://", "https://", "src=\"", "url(", "@import", "<script", "<link", "<iframe"] {
        assert!(!page.contains(loads), "{loads}");
    }
    let (mut open, mut ids, mut heading) = (Vec::new(), Vec::new(), 0);
    let style = page.find("<style>").expect("a style")..page.find("</style>").expect("its end");
    for (at, tag) in tags(page).filter(|(at, _)| !(style.start + 1..style.end).contains(at)) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default().to_owned();
        if let Some(level) = name.strip_prefix('h').and_then(|level| level.parse::<u32>().ok())
            && !tag.starts_with('/')
        {
            assert!(level <= heading + 1, "h{level} after h{heading}");
            heading = level;
        }
        if let Some((_, id)) = tag.split_once(" id=\"") {
            let id = id.split('"').next().unwrap_or_default().to_owned();
            assert!(!ids.contains(&id), "two of {id}");
            ids.push(id);
        }
        let handler =
            tag.split(" on").skip(1).any(|rest| rest.trim_start_matches(|c: char| c.is_alphabetic()).starts_with('='));
        assert!(!handler, "a handler: {tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "an open quote: {tag}");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "at {at}: {tag}");
        } else if !tag.ends_with('/') && !tag.starts_with('!') && !VOID.contains(&name.as_str()) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for (_, tag) in tags(page).filter(|(_, tag)| tag.starts_with("svg ")) {
        let names = tag.split_once("aria-labelledby=\"").and_then(|(_, rest)| rest.split('"').next());
        assert!(tag.contains("role=\"img\""));
        assert!(names.is_some_and(|names| names.split(' ').all(|name| ids.iter().any(|id| id == name))), "{tag}");
    }
}

fn tags(page: &str) -> impl Iterator<Item = (usize, &str)> {
    page.match_indices('<').map(|(at, _)| {
        let rest = &page[at + 1..];
        (at, &rest[..rest.find('>').expect("an end of the tag")])
    })
}

/// One picture of a page.
pub(crate) struct Picture {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) texts: Vec<String>,
    pub(crate) whole: String,
}

pub(crate) fn pictures(page: &str) -> impl Iterator<Item = Picture> {
    page.split("<svg ").skip(1).map(|rest| {
        let whole = rest.split("</svg>").next().unwrap_or_default().to_owned();
        let inside = |tag: &str| -> Vec<String> {
            let begin = format!("<{tag} ");
            let parts = whole.split(begin.as_str()).skip(1);
            let text = |part: &str| {
                let (_, text) = part.split_once('>').expect("a tag");
                text.split("</").next().unwrap_or_default().trim().to_owned()
            };
            parts.map(text).collect()
        };
        let id = whole.split_once("<title id=\"").and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default();
        Picture {
            id: id.to_owned(),
            title: inside("title").concat(),
            description: inside("desc").concat(),
            texts: inside("text"),
            whole: whole.clone(),
        }
    })
}
