//! Whether a path is the home folder of somebody.

use super::names::names_nobody;
use super::rules::{Found, Judged};

/// Folders above `home` that make it a part of a program or of a web site.
const NO_ROOTS: &str = " api app apps assets bin cdn code components config controllers css dist doc docs en etc home html images \
    img include js layouts lib libexec node_modules opt page pages public root routes sbin screens sites src static styles \
    templates test tests theme themes tmp users v1 v2 views web wp-content www ";

/// Folders that clusters have their homes in, with a number or without.
const ROOTS: &str = " afs beegfs ceph cephfs cluster cm global gpfs hpc lustre nfs sdf shared u ";

/// Folders that hold what was measured or learnt, and words of their names.
const DATA: &str = " artifacts bench benchmark benchmarks cache checkpoint checkpoints data dataset datasets experiment experiments \
    feature features images log logs maps measurements model models object objects out output outputs project projects result results \
    run runs sample samples tensors trace traces train training weights workspace ";

/// Endings of files that packages hold.
const FILES: &str = " bin bz2 c cc cfg cpp csv cu gz h hpp ini ipynb json jsonl log md npy npz onnx parquet pdf png pt pth ptx py \
    safetensors sh so sqlite svg tar toml tsv txt xml yaml yml zip zst ";

/// Pages below `home`.
const PAGES: &str = " about admin archive assets components config contact dashboard default en feed header footer img images \
    index info layout login main menu news page pages settings sidebar src start static status view views ";

/// Names that documentation and systems use for anybody, and pages of a web site.
pub(super) fn names_somebody(found: Found<'_>) -> Judged {
    let part = found.part();
    let name = part.rsplit(['/', '\\']).next().unwrap_or(part);
    let name = name.rsplit_once("%2F").or_else(|| name.rsplit_once("%2f")).map_or(name, |(_, name)| name);
    let is_page = [".html", ".htm", ".php", ".aspx", ".css", ".js"].iter().any(|ending| name.ends_with(ending));
    // A service, but also a name of people: only its folder is left, not the user of a machine who is called so.
    let is_service = name == "travis";
    found.judged(!names_nobody(name) && !is_service && !is_page)
}

/// The second group of the rule for absolute paths goes through any folders.
pub(super) fn is_home(found: Found<'_>) -> Judged {
    if found.group == 2 {
        return is_on_cluster(found);
    }
    let mut parts = found.part().rsplit(['/', '\\']).filter(|part| !part.is_empty());
    let (name, home) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    // Below another folder, `home` may be one of data.
    let is_data = home.starts_with("home") && parts.next().is_some() && (is_data(name) || is_file(name));
    let somebody = names_somebody(found);
    Judged { is_meant: somebody.is_meant && !is_data, ..somebody }
}

fn is_one_of(list: &str, name: &str) -> bool {
    !name.is_empty() && list.contains(&format!(" {} ", name.to_ascii_lowercase()))
}

/// `results`, `feature_maps`, `run1`
fn is_data(name: &str) -> bool {
    name.split(['_', '-']).any(|word| is_one_of(DATA, word.trim_end_matches(|digit: char| digit.is_ascii_digit())))
}

fn is_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| is_one_of(FILES, ending))
}

/// A home folder below one or two others, the first of them one of a cluster, and neither a page of a web site nor data.
fn is_on_cluster(found: Found<'_>) -> Judged {
    let mut parts: Vec<&str> = found.part().split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    let name = parts.pop().unwrap_or_default();
    parts.pop();
    let is_root = |part: &&str| is_one_of(ROOTS, part.trim_end_matches(|digit: char| digit.is_ascii_digit()));
    let is_cluster = parts.first().is_some_and(is_root);
    let is_site = parts.iter().any(|part| is_one_of(NO_ROOTS, part) || is_one_of(DATA, part)) || is_one_of(PAGES, name);
    let is_data = is_data(name) || is_file(name);
    let is_link = ["](", "href=", "href=\"", "href='", "src=\"", "url(", "@", "~", "GET ", "POST ", "PUT "]
        .iter()
        .any(|beginning| found.before().ends_with(beginning));
    let somebody = names_somebody(found);
    // Below a letter that names begin with: `/global/homes/a/alice`.
    let after = found.after();
    let below = after.strip_prefix('/').filter(|below| name.len() == 1 && below.starts_with(name));
    let more = below.map_or(0, |below| {
        1 + below.find(|symbol: char| !(symbol.is_alphanumeric() || matches!(symbol, '_' | '-'))).unwrap_or(below.len())
    });
    Judged {
        bytes: somebody.bytes + more,
        is_meant: somebody.is_meant && is_cluster && !is_site && !is_data && !is_link,
    }
}
