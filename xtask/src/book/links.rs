//! Links of the Markdown files that lead nowhere: to a file that is not there, to a heading that a page lacks, or out of the book.
//!
//! It reads lines, not Markdown: a link stands in one line, and not in a block of code.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use super::{PAGES, pages};

/// A link to a file of the workspace.
struct Link<'a> {
    /// The line, counted from 1.
    line: usize,
    /// The target, as it is written.
    target: &'a str,
    /// The file from the workspace's root; the file itself where the link only names a heading.
    file: String,
    /// The heading's anchor.
    anchor: Option<&'a str>,
}

/// The places of all such links, and of pages that the summary lacks.
pub(super) fn faults(files: &[(String, String)]) -> Vec<String> {
    let there: HashSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let mut faults = Vec::new();
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".md")) {
        for link in links(name, text) {
            let place = format!("{name}:{}: `{}`", link.line, link.target);
            let text = files.iter().find(|(name, _)| *name == link.file).map(|(_, text)| text);
            if name.starts_with(PAGES) && !link.file.starts_with(PAGES) {
                faults.push(format!("{place} leads out of the book, whose pages are published without the repository"));
            } else if !there.contains(link.file.as_str()) && !super::root().join(&link.file).exists() {
                faults.push(format!("{place}: there is no {}", link.file));
            } else if let (Some(anchor), Some(text)) = (link.anchor, text)
                && !anchors(text).iter().any(|there| there == anchor)
            {
                faults.push(format!("{place}: {} has no such heading", link.file));
            }
        }
    }
    let summary = pages(files).find(|(page, _)| *page == "SUMMARY.md").map(|(_, text)| text).unwrap_or_default();
    let listed = |page: &str| page == "SUMMARY.md" || summary.contains(&format!("]({page})"));
    faults.extend(
        pages(files).filter(|(page, _)| !listed(page)).map(|(page, _)| format!("{PAGES}{page}: not in SUMMARY.md")),
    );
    faults
}

/// The terms of the glossary that name no source: no link out of the book stands in their rows.
pub(super) fn sourceless(files: &[(String, String)]) -> Vec<String> {
    let page = pages(files).find(|(page, _)| *page == "glossary.md").map(|(_, text)| text).unwrap_or_default();
    let rows = page.lines().enumerate().filter(|(_, line)| {
        let is_head = line.starts_with("| term |") || line.starts_with("|---");
        line.starts_with('|') && !is_head && !line.contains("](https://")
    });
    rows.map(|(at, row)| {
        format!("{PAGES}glossary.md:{}: no source of `{}`", at + 1, row.split('|').nth(1).unwrap_or_default().trim())
    })
    .collect()
}

/// The links among the book's pages to anchors that the pages' HTML lacks, which a function gives by its name.
pub(super) fn dead_anchors(files: &[(String, String)], html: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut faults = Vec::new();
    for (page, text) in pages(files) {
        for link in links(&format!("{PAGES}{page}"), text) {
            let Some(to) = link.file.strip_prefix(PAGES).and_then(|file| file.strip_suffix(".md")) else { continue };
            let lacks = match (html(&format!("{to}.html")), link.anchor) {
                (Some(html), Some(anchor)) => !html.contains(&format!("id=\"{anchor}\"")),
                (found, _) => found.is_none(),
            };
            if lacks {
                faults.push(format!("{PAGES}{page}:{}: `{}` is not in {to}.html", link.line, link.target));
            }
        }
    }
    faults
}

/// The lines of a page outside of blocks of code, counted from 1.
pub(super) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        (!inside && !fence).then_some((at + 1, line))
    })
}

/// The links of a file to files of the workspace.
fn links<'a>(name: &str, text: &'a str) -> Vec<Link<'a>> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        // Within code these are an index and a call.
        let in_code = |at: usize| text[..at].matches('`').count() % 2 == 1;
        for (at, _) in text.match_indices("](").filter(|(at, _)| !in_code(*at)) {
            let Some(target) = text[at + 2..].split(')').next() else { continue };
            if target.contains("://") || target.starts_with("mailto:") || target.contains(' ') {
                continue;
            }
            let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
            let file = if path.is_empty() { name.to_owned() } else { resolved(name, path) };
            links.push(Link { line, target, file, anchor });
        }
    }
    links
}

/// Resolves a link in a file to a path from the workspace's root.
fn resolved(name: &str, link: &str) -> String {
    let folder = Path::new(name).parent().into_iter().flat_map(Path::components);
    let mut path = PathBuf::new();
    for part in folder.chain(Path::new(link).components()) {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(part) => path.push(part),
            _ => {}
        }
    }
    path.to_string_lossy().into_owned()
}

/// The anchors of a page's headings, as mdbook and GitHub name them.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in prose(text).filter(|(_, line)| line.starts_with('#')) {
        let anchor = anchor(line.trim_start_matches('#').trim());
        let same = anchors.iter().filter(|there| **there == anchor || there.starts_with(&format!("{anchor}-"))).count();
        let numbered = (1..=same).map(|number| format!("{anchor}-{number}")).find(|name| !anchors.contains(name));
        let is_new = !anchors.contains(&anchor);
        anchors.push(if is_new { anchor } else { numbered.unwrap_or(anchor) });
    }
    anchors
}

/// The anchor of a heading that is the first of its text.
fn anchor(heading: &str) -> String {
    // A link's text stays, its target does not.
    let mut text = heading.to_owned();
    while let Some((at, end)) = text.find("](").and_then(|at| Some((at, at + text[at..].find(')')?))) {
        text.replace_range(at..=end, "");
    }
    let kept = text.chars().filter_map(|c| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_lowercase().next().unwrap_or(c)),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(pages: &[(&str, &str)]) -> Vec<(String, String)> {
        pages.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    const SUMMARY: (&str, &str) = ("docs/book/src/SUMMARY.md", "- [A](a.md)\n- [B](b.md)\n");

    #[test]
    fn links_that_lead_somewhere_pass() {
        let a = "[b](b.md#f16-and-bf16) [here](#x) [web](https://x/y.md#z)\n# x\n```text\n[no](nowhere.md)\n```\n";
        let b = "# x\n## `f16` and [`bf16`](a.md)\n";
        let readme = ("README.md", "[book](docs/book/src/a.md#x)\n");
        let files = files(&[SUMMARY, ("docs/book/src/a.md", a), ("docs/book/src/b.md", b), readme]);
        assert_eq!(faults(&files), [""; 0]);
        let html = |page: &str| (page != "SUMMARY.html").then(|| "<h1 id=\"x\"> <h2 id=\"f16-and-bf16\">".to_owned());
        assert_eq!(dead_anchors(&files, html), [""; 0]);
    }

    #[test]
    fn links_that_lead_nowhere_are_named() {
        let a = "\n[b](b.md#y)\n[c](c.md)\n[out](../../measurements.md)\n";
        let found = faults(&files(&[SUMMARY, ("docs/book/src/a.md", a), ("docs/book/src/b.md", "# x\n")]));
        let places = [
            "docs/book/src/SUMMARY.md",
            "docs/book/src/a.md:2: `b.md#y`: docs/book/src/b.md has no such heading",
            "docs/book/src/a.md:3: `c.md`: there is no docs/book/src/c.md",
            "docs/book/src/a.md:4: `../../measurements.md` leads out of the book, whose pages are published without the repository",
        ];
        assert_eq!(found, places[1..]);
        let unlisted = faults(&files(&[
            SUMMARY,
            ("docs/book/src/a.md", ""),
            ("docs/book/src/b.md", ""),
            ("docs/book/src/c.md", ""),
        ]));
        assert_eq!(unlisted, ["docs/book/src/c.md: not in SUMMARY.md"]);
    }

    #[test]
    fn anchors_that_the_html_lacks_are_named() {
        let pages = files(&[SUMMARY, ("docs/book/src/a.md", "[b](b.md#x)\n"), ("docs/book/src/b.md", "# x\n")]);
        let html = |page: &str| Some(if page == "b.html" { "<h1 id=\"y\">" } else { "" }.to_owned());
        assert_eq!(dead_anchors(&pages, html), ["docs/book/src/a.md:1: `b.md#x` is not in b.html"]);
    }

    #[test]
    fn headings_of_one_text_are_numbered() {
        assert_eq!(
            anchors("# On the host\n## On the host\n### 5. Which, and why?\n"),
            ["on-the-host", "on-the-host-1", "5-which-and-why"]
        );
    }

    #[test]
    fn terms_without_a_source_are_named() {
        let row = |source: &str| {
            format!(
                "# Glossary\n\n| term | meaning | source |\n|---|---|---|\n| warp, lane | 32 threads | {source} |\n"
            )
        };
        let faults = |source| sourceless(&[(format!("{PAGES}glossary.md"), row(source))]);
        assert_eq!(faults("guide, [SIMT](https://docs.nvidia.com); [Warps](warps.md)"), [""; 0]);
        assert_eq!(faults("[Warps](warps.md)"), ["docs/book/src/glossary.md:5: no source of `warp, lane`"]);
    }
}
