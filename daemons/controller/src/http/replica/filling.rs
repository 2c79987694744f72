//! A page that is filled from the parts of a list that have been copied.

use axum::body::Bytes;
use braid_filter::Filter;
use braid_types::Time;
use tokio::time::Instant;

use super::listed::{Cursor, name};
use super::{Listed, Naming, Table};

/// Bytes of items after which a page ends, whether or not they fit: a filter that few of a hundred thousand items meet keeps
/// nobody else waiting.
const MAX_BYTES: usize = 1 << 20;
const TAIL: &str = "]}";

/// Which items of a list are in a page, and how they are written.
#[derive(Clone, Copy)]
pub(super) struct Choice<'a> {
    pub(super) filter: &'a Filter,
    pub(super) naming: &'a Naming,
}

impl Choice<'_> {
    fn takes(&self, json: &[u8]) -> bool {
        self.filter.is_empty() || self.filter.fits(&mut serde_json::Deserializer::from_slice(json))
    }
}

/// A part of a list as an answer of the API: at most `limit` of the items after a key that fit, and where the next one begins.
pub(super) struct Filling<K> {
    limit: usize,
    /// It is filled up to this key.
    after: Option<K>,
    items: Vec<Bytes>,
    /// Bytes of items that were looked at.
    seen: usize,
    /// What happened until then is in it.
    now: Option<Time>,
}

impl<K: Cursor> Filling<K> {
    /// An empty page.
    pub(super) const fn new(after: Option<K>, limit: usize) -> Self {
        Self { limit, after, items: Vec::new(), seen: 0, now: None }
    }

    /// Fills the page from what was copied since then.
    ///
    /// # Errors
    ///
    /// What follows this key has to be copied first.
    pub(super) fn fill<T: Listed<Key = K>>(
        &mut self,
        table: &Table<T>,
        since: Instant,
        choice: Choice<'_>,
    ) -> Result<String, Option<K>> {
        while !self.is_full() {
            let span = table.coverage().at(&self.after);
            let span = span.filter(|span| span.asked_at >= since);
            let Some(span) = span else { return Err(self.after.clone()) };
            self.now = Some(self.now.map_or(span.now, |now| now.min(span.now)));
            let mut rest = table.between(self.after.clone(), span.end.clone()).peekable();
            while !self.is_full()
                && let Some((key, item)) = rest.next()
            {
                self.look_at(item.json(choice.naming), choice);
                self.after = Some(key.clone());
            }
            if rest.peek().is_some() {
                break;
            }
            let Some(end) = &span.end else { return Ok(self.write::<T>(None)) };
            self.after = Some(end.clone());
        }
        Ok(self.write::<T>(self.after.as_ref()))
    }

    const fn is_full(&self) -> bool {
        self.items.len() >= self.limit || self.seen >= MAX_BYTES
    }

    fn look_at(&mut self, json: &Bytes, choice: Choice<'_>) {
        self.seen += json.len() + 1;
        if choice.takes(json) {
            self.items.push(json.clone());
        }
    }

    fn write<T: Listed<Key = K>>(&self, next: Option<&K>) -> String {
        let next = serde_json::to_string(&next.map(Cursor::write)).unwrap_or_default();
        let (now, name) = (self.now.unwrap_or(Time::ZERO).as_nanos(), name::<T>());
        let mut page = format!(r#"{{"schema":"braid/v1","now":{now},"next_cursor":{next},"{name}":["#);
        page.reserve(self.items.iter().map(|json| json.len() + 1).sum::<usize>() + TAIL.len());
        for (index, item) in self.items.iter().enumerate() {
            page.push_str(if index > 0 { "," } else { "" });
            // JSON is UTF-8.
            page.push_str(std::str::from_utf8(item).unwrap_or_default());
        }
        page + TAIL
    }
}

#[cfg(test)]
mod tests {
    use braid_control::view::HostView;
    use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort};
    use serde_json::Value;

    use super::*;
    use crate::http::replica::coverage::Span;

    fn host(number: u64, name: usize) -> HostView {
        let at = SwitchPort::new(DatapathId(1), PortNo(1));
        let addresses = vec![std::net::Ipv4Addr::LOCALHOST.into(); name];
        HostView { mac: MacAddr::from_u64(number), at, addresses, last_seen: Time::ZERO }
    }

    fn table(hosts: &[(u64, usize)]) -> Table<HostView> {
        let (mut table, whole) = (Table::default(), Span::whole(Time::from_nanos(7), Instant::now()));
        table.replace(whole, hosts.iter().map(|(number, name)| host(*number, *name)).collect());
        table
    }

    /// What was copied at any time.
    fn fill(
        page: &mut Filling<MacAddr>,
        table: &Table<HostView>,
        filter: &str,
    ) -> Result<String, Option<MacAddr>> {
        let (filter, naming) = (filter.parse().expect("a filter"), Naming::default());
        let long_ago = Instant::now().checked_sub(std::time::Duration::from_secs(60)).expect("a time");
        page.fill(table, long_ago, Choice { filter: &filter, naming: &naming })
    }

    fn page(table: &Table<HostView>, after: Option<MacAddr>, limit: usize, filter: &str) -> String {
        fill(&mut Filling::new(after, limit), table, filter).expect("all of the list")
    }

    /// The Ethernet addresses of all pages, and how many pages there were.
    fn read(table: &Table<HostView>, limit: usize) -> (Vec<String>, usize) {
        read_filtered(table, limit, "")
    }

    fn read_filtered(table: &Table<HostView>, limit: usize, filter: &str) -> (Vec<String>, usize) {
        let (mut all, mut pages, mut cursor) = (Vec::new(), 0, None);
        loop {
            let page: Value = serde_json::from_str(&page(table, cursor, limit, filter)).expect("JSON");
            assert_eq!((&page["schema"], &page["now"]), (&"braid/v1".into(), &7.into()));
            let hosts = page["hosts"].as_array().expect("a list");
            assert!(hosts.len() <= limit);
            all.extend(hosts.iter().filter_map(|host| host["mac"].as_str().map(str::to_owned)));
            pages += 1;
            let Some(next) = page["next_cursor"].as_str() else { return (all, pages) };
            cursor = MacAddr::read(next);
            assert!(cursor.is_some(), "{next}");
        }
    }

    #[test]
    fn pages_have_every_item_once_and_in_order() {
        let hosts = table(&[(3, 0), (1, 0), (5, 0), (4, 0), (2, 0)]);
        let all: Vec<_> = (1..=5).map(|number| MacAddr::from_u64(number).to_string()).collect();
        for (limit, pages) in [(1, 5), (2, 3), (5, 1), (9, 1)] {
            assert_eq!(read(&hosts, limit), (all.clone(), pages), "{limit}");
        }
        assert_eq!(read(&table(&[]), 1), (Vec::new(), 1), "an empty list is a page");
        let gone: Value =
            serde_json::from_str(&page(&hosts, Some(MacAddr::from_u64(9)), 1, "")).expect("JSON");
        assert_eq!((&gone["hosts"], &gone["next_cursor"]), (&serde_json::json!([]), &Value::Null));
    }

    #[test]
    fn of_a_hundred_thousand_items_a_filter_finds_all_that_fit_page_by_page() {
        let count = 100_000;
        let table = table(&(0..count).map(|number| (number, 0)).collect::<Vec<_>>());
        let wanted = |fits: &dyn Fn(u64) -> bool| -> Vec<_> {
            (0..count).filter(|it| fits(*it)).map(|number| MacAddr::from_u64(number).to_string()).collect()
        };
        let has = |it: u64| it >> 8 & 0xff == 0x7f || it & 0xff == 0x7f;
        let (last, pages) = read_filtered(&table, 1_000, "mac=00:00:00:01:86:9f");
        assert_eq!(last, wanted(&|it| it == 99_999));
        assert!(pages > 1, "however few fit");
        assert_eq!(read_filtered(&table, 1_000, "nothing"), (Vec::new(), pages));
        assert_eq!(read_filtered(&table, 1_000, "mac~:7f").0, wanted(&has));
        let (all, pages) = read_filtered(&table, 1_000, "-mac~:7f");
        assert_eq!(all, wanted(&|it| !has(it)));
        assert!(pages >= all.len() / 1_000);
    }

    #[test]
    fn a_page_ends_where_it_would_be_too_long() {
        let table = table(&(0..9).map(|number| (number, 30_000)).collect::<Vec<_>>());
        let (all, pages) = read(&table, 9);
        assert_eq!((all.len(), pages), (9, 3));
        assert!(page(&table, None, 9, "").len() < 2 * MAX_BYTES);
    }

    /// Copies the hosts from 0 to 99 of that moment that follow, three at a time.
    fn copy(table: &mut Table<HostView>, after: Option<MacAddr>, now: u64) {
        let first = after.map_or(0, |after| after.to_u64() + 1);
        let hosts: Vec<_> = (first..100).take(3).map(|number| host(number, 0)).collect();
        let end = hosts.last().filter(|_| first < 97).map(|last| last.mac);
        table.replace_part(after, Span { end, now: Time::from_nanos(now), asked_at: Instant::now() }, hosts);
    }

    #[test]
    fn a_page_is_filled_part_by_part_and_as_old_as_the_oldest() {
        for (limit, filter, expected, parts) in [
            (1, "", 1, 1),
            (3, "", 3, 1),
            (4, "", 4, 2),
            (99, "", 99, 33),
            (100, "", 100, 34),
            (1, "nothing", 0, 34),
        ] {
            let (mut table, mut page, mut copied) = (Table::default(), Filling::new(None, limit), 0);
            let page = loop {
                match fill(&mut page, &table, filter) {
                    Ok(page) => break page,
                    Err(after) => copy(&mut table, after, 100 + copied),
                }
                copied += 1;
            };
            let page: Value = serde_json::from_str(&page).expect("JSON");
            assert_eq!(page["hosts"].as_array().map(Vec::len), Some(expected), "{limit}");
            assert_eq!((&page["now"], copied), (&100.into(), parts));
            assert_eq!(page["next_cursor"].is_null(), expected == 100 || filter == "nothing", "{limit}");
        }
    }

    #[test]
    fn what_was_copied_too_early_is_copied_again() {
        let (mut table, filter, naming) = (Table::default(), Filter::default(), Naming::default());
        let choice = Choice { filter: &filter, naming: &naming };
        copy(&mut table, None, 1);
        let since = Instant::now();
        let mut page = Filling::new(None, 2);
        assert_eq!(page.fill(&table, since, choice), Err(None));
        copy(&mut table, None, 2);
        assert!(page.fill(&table, since, choice).is_ok_and(|page| page.contains(r#""now":2"#)));
    }
}
