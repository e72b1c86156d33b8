//! Debian's chromium, without a window.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A browser that is installed.
pub(crate) struct Browser {
    program: &'static str,
}

/// Written into the page by a script in a copy of it: what is too wide, cut off, or written over something else.
const MEASURE: &str = r#"<script>
const wrong = [], page = document.documentElement, shown = (e) => e.textContent.trim().slice(0, 40);
if (page.scrollWidth > page.clientWidth) wrong.push(`page ${page.scrollWidth} > ${page.clientWidth}`);
if (innerWidth !== WIDTH) wrong.push(`window ${innerWidth}`);
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('.scroll, svg') && !e.matches('svg')) continue;
  const r = e.getBoundingClientRect();
  if (r.right > innerWidth + 0.5 || r.left < -0.5) wrong.push(`wide ${e.tagName} ${shown(e)}`);
}
for (const e of document.querySelectorAll('.scroll[aria-label="Checks"], .option')) {
  if (e.scrollWidth > e.clientWidth && e.matches('.scroll')) wrong.push(`cut table ${e.scrollWidth} > ${e.clientWidth}`);
  if (e.matches('.option') && e.getClientRects().length > 1) wrong.push(`broken ${shown(e)}`);
}
for (const svg of document.querySelectorAll('svg')) {
  const s = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')];
  const boxes = texts.map((t) => t.getBoundingClientRect());
  if (s.width < 300) wrong.push(`small ${s.width}`);
  boxes.forEach((b, i) => {
    if (b.width === 0) wrong.push(`empty ${shown(texts[i])}`);
    if (b.left < s.left - 0.5 || b.right > s.right + 0.5 || b.top < s.top - 0.5 || b.bottom > s.bottom + 0.5)
      wrong.push(`cut ${shown(texts[i])}`);
    for (let j = 0; j < i; j++) {
      const o = boxes[j], x = Math.min(b.right, o.right) - Math.max(b.left, o.left);
      const y = Math.min(b.bottom, o.bottom) - Math.max(b.top, o.top);
      if (x > 1 && y > 0.35 * Math.min(b.height, o.height)) wrong.push(`over ${shown(texts[j])} | ${shown(texts[i])}`);
    }
  });
}
const measured = document.createElement('pre');
measured.className = 'measured';
measured.textContent = 'WIDTH: ' + (wrong.length ? wrong.slice(0, 20).join('; ') : 'all fits');
parent.document.body.append(measured);
</script></body>"#;

impl Browser {
    /// The first that runs.
    pub(crate) fn find() -> Option<Self> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let runs =
            |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
        names.into_iter().find(runs).map(|program| Self { program })
    }

    /// The page loads, and the console stays empty.
    pub(crate) fn accepts(&self, page: &str, name: &str) {
        let output = self.dump(page, 1400);
        let said = String::from_utf8_lossy(&output.stderr);
        let complaints: Vec<_> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert!(output.status.success(), "{name}: {said}");
        assert!(complaints.is_empty(), "{name}: {complaints:?}");
        let dom = String::from_utf8_lossy(&output.stdout);
        // The browser's own reading closes nothing early.
        assert_eq!(dom.matches("<section ").count(), page.matches("<section ").count(), "{name}");
        assert_eq!(dom.matches("</figcaption>").count(), page.matches("</figcaption>").count(), "{name}");
    }

    /// Nothing overflows, is cut off, or covers another text, at each of the widths.
    pub(crate) fn fits(&self, page: &str, name: &str, widths: &[u32]) {
        let policy = page.lines().find(|line| line.contains("Content-Security-Policy"));
        let page = policy.map_or_else(|| page.to_owned(), |policy| page.replace(policy, ""));
        let mut frames = "<!DOCTYPE html><body>".to_owned();
        for width in widths {
            let copy = page.replace("</body>", &MEASURE.replace("WIDTH", &width.to_string()));
            // A window has a least width; a frame in it has none.
            frames.push_str(&format!(
                "<iframe style=\"width:{width}px;height:1200px;border:0\" srcdoc=\"{}\"></iframe>",
                copy.replace('&', "&amp;").replace('"', "&quot;")
            ));
        }
        let output = self.dump(&(frames + "</body>"), 1500);
        let dom = String::from_utf8_lossy(&output.stdout);
        let measured = dom.split("<pre class=\"measured\">").skip(1).filter_map(|rest| rest.split("</pre>").next());
        let mut measured: Vec<_> = measured.collect();
        let mut expected: Vec<_> = widths.iter().map(|width| format!("{width}: all fits")).collect();
        measured.sort_unstable();
        expected.sort_unstable();
        assert_eq!(measured, expected, "{name}");
    }

    /// The number of pages that it prints on, with the file that was printed.
    pub(crate) fn prints(&self, page: &str) -> (usize, Vec<u8>) {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, printed) = (folder.path().join("page.html"), folder.path().join("page.pdf"));
        fs::write(&file, page).expect("a page");
        let output = self
            .command(folder.path())
            .arg(format!("--print-to-pdf={}", printed.display()))
            .arg(format!("file://{}", file.display()))
            .output()
            .expect("the browser runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let pdf = fs::read(&printed).expect("a printed file");
        // The root of the tree of pages counts them all.
        let text = String::from_utf8_lossy(&pdf);
        let counts = text.split("/Count ").skip(1).map(|rest| {
            rest.split(|character: char| !character.is_ascii_digit()).next().and_then(|digits| digits.parse().ok())
        });
        let pages = counts.flatten().max().expect("a number of pages");
        drop(text);
        (pages, pdf)
    }

    fn command(&self, profile: &Path) -> Command {
        let mut command = Command::new(self.program);
        command
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
            .arg(format!("--user-data-dir={}", profile.join("profile").display()));
        command
    }

    fn dump(&self, page: &str, width: u32) -> Output {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("page.html");
        fs::write(&file, page).expect("a page");
        self.run(&file, folder.path(), width)
    }

    fn run(&self, file: &Path, profile: &Path, width: u32) -> Output {
        self.command(profile)
            .args(["--hide-scrollbars", "--dump-dom", "--enable-logging=stderr", "--v=0"])
            .arg(format!("--window-size={width},1200"))
            .arg(format!("file://{}", file.display()))
            .output()
            .expect("the browser runs")
    }
}
