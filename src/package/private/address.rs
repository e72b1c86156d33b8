//! E-mail addresses and domains, told from products of matrices, versions and names of files.

use super::rules::{Found, Judged};
use super::secrets::userinfo;

/// Endings of domains beside those of countries, which have two letters.
const ENDINGS: &[&str] = &[
    "academy",
    "aero",
    "agency",
    "app",
    "arpa",
    "asia",
    "biz",
    "cat",
    "center",
    "cloud",
    "cluster",
    "club",
    "codes",
    "com",
    "company",
    "computer",
    "consulting",
    "coop",
    "corp",
    "design",
    "dev",
    "digital",
    "edu",
    "education",
    "email",
    "energy",
    "engineering",
    "foundation",
    "global",
    "gov",
    "group",
    "home",
    "info",
    "institute",
    "int",
    "internal",
    "international",
    "intranet",
    "jobs",
    "lab",
    "lan",
    "live",
    "local",
    "localdomain",
    "media",
    "mil",
    "mobi",
    "museum",
    "net",
    "network",
    "news",
    "online",
    "org",
    "page",
    "private",
    "pro",
    "school",
    "science",
    "services",
    "site",
    "software",
    "solutions",
    "space",
    "store",
    "studio",
    "systems",
    "team",
    "tech",
    "technology",
    "tel",
    "travel",
    "university",
    "ventures",
    "website",
    "wiki",
    "work",
    "world",
    "xyz",
    "zone",
];

/// Countries, but for Cuba: `.cu` ends names of kernels far more often.
const COUNTRIES: &str = "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bv bw by \
    bz ca cc cd cf cg ch ci ck cl cm cn co cr cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb gd \
    ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km \
    kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc \
    ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk \
    sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu \
    wf ws ye yt za zm zw";

/// Countries whose two letters end names of files, too.
const LIKE_FILES: &[&str] = &["cc", "md", "pl", "ps", "py", "rs", "sh", "so"];

fn is_ending(label: &str) -> bool {
    let lower = label.to_ascii_lowercase();
    // `mT` and `mH` are transposes.
    let is_one_case = label == lower || label == label.to_ascii_uppercase();
    let is_country = lower.len() == 2 && COUNTRIES.split(' ').any(|country| country == lower);
    is_one_case && (is_country || ENDINGS.contains(&lower.as_str()))
}

/// What programs call modules and objects.
const OBJECTS: [&str; 18] = [
    "aten",
    "cls",
    "functional",
    "inductor",
    "jnp",
    "math",
    "nn",
    "np",
    "numpy",
    "ops",
    "prim",
    "prims",
    "self",
    "tf",
    "this",
    "torch",
    "triton",
    "xla",
];

/// Names that are reserved for nobody, and what lies below them.
fn is_reserved(domain: &str) -> bool {
    let lower = domain.to_ascii_lowercase();
    ["example.com", "example.org", "example.net", "example.edu", "example", "invalid", "test", "localhost"]
        .iter()
        .any(|name| lower.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// `git@host` is an address of a repository, `example.com` is nobody's, and `a@b.sum()` is a product of matrices.
pub(super) fn is_address(found: Found<'_>) -> Judged {
    let (local, domain) = found.part().split_once('@').unwrap_or_default();
    let (name, ending) = domain.rsplit_once('.').unwrap_or_default();
    let first = name.split('.').next().unwrap_or(name);
    let nobody = ["git", "hg", "svn", "noreply", "no-reply"].iter().any(|other| local.eq_ignore_ascii_case(other));
    // `math.uni.edu`
    let is_department = name.contains('.') && ["functional", "math", "ops", "prim"].contains(&first);
    let is_code = (OBJECTS.contains(&first) && !is_department)
        // `op@aten.mm`: products of matrices and vectors; domains there have three labels.
        || (["mm", "mv"].contains(&ending) && !name.contains('.'))
        || (local.len() == 1 && first.len() == 1)
        || found.after().starts_with(['(', '[', '_'])
        || found.after().strip_prefix('.').is_some_and(|rest| rest.starts_with(|next: char| next.is_alphanumeric()));
    // `icon@2x.md`, `symbol@libx.so`
    let is_file = LIKE_FILES.contains(&ending)
        && (first.starts_with(|digit: char| digit.is_ascii_digit()) || first.starts_with("lib"));
    let is_domain = is_ending(ending)
        && !is_version(name, ending)
        && !domain.split('.').any(|label| label.is_empty() || label.starts_with('-') || label.ends_with('-'));
    found.judged(is_domain && !nobody && !is_reserved(domain) && !is_code && !is_file && !is_login(found))
}

/// `numpy@1.26.4.dev` and `bench@v1.in`, but not `qq@163.com`.
fn is_version(name: &str, ending: &str) -> bool {
    let is_number = |label: &str| {
        let digits = label.strip_prefix('v').unwrap_or(label);
        digits.starts_with(|first: char| first.is_ascii_digit()) && digits.len() <= 12
    };
    let labels = || name.split('.');
    labels().all(is_number) && (labels().count() > 1 || ending == "dev" || name.starts_with('v'))
}

/// Whether the part before `@` is a secret in an address of the web, for which there are rules of their own.
fn is_login(found: Found<'_>) -> bool {
    // A text may hold many addresses and nothing else: this looks back no further than a name and a password go.
    let bytes = &found.text.as_bytes()[found.start.saturating_sub(256)..found.start];
    let is_edge = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'"' | b'\'');
    let Some(edge) = bytes.iter().rposition(is_edge) else { return false };
    let local = found.part().split('@').next().unwrap_or_default();
    let part = Found { end: found.start + local.len(), ..found };
    bytes[..=edge].ends_with(b"://") && (bytes[edge..].contains(&b':') || userinfo(part).is_meant)
}

/// How much of a machine's name and what follows it is its name in a domain.
pub(super) fn in_domain(found: Found<'_>) -> Judged {
    let mut host = found.part();
    while let Some((rest, ending)) = host.rsplit_once('.') {
        let is_file = LIKE_FILES.contains(&ending) || ["id", "in"].contains(&ending);
        if is_ending(ending) && !is_file && (ending.len() > 2 || rest.contains('.')) {
            break;
        }
        host = rest;
    }
    Judged { bytes: host.len(), is_meant: true }
}
