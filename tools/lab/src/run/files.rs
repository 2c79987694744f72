//! The files of a report: the document, the table and the plots.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::profiles;
use super::report::{Interval, Report, Row};
use super::settings::{self, Key};
use crate::error::LabError;
use crate::plot::{self, Bar, Labels, Line, Mark, PlotError, Series};
use crate::scenario::Average;

impl Report {
    /// Writes the report into folder `into`, which is created if necessary:
    ///
    /// `report.json` and `table.txt`; `goodput.svg`, a bar for each setting; `over-time.svg`, a line for each, or
    /// `profiles.svg`, the ratios of each profile; `streams.svg`
    /// if numbers of streams are compared, `model.svg` if the stream model was fitted; below `streams` a stacked plot of each
    /// transfer's streams; `ranks.svg` if many hosts send at once; and below `captures` the captures.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self, into: &Path) -> Result<(), LabError> {
        let json = serde_json::to_string_pretty(self).map_err(|error| LabError::file(into, error.into()))?;
        write(&into.join("report.json"), json + "\n")?;
        write(&into.join("table.txt"), self.to_text())?;
        for (name, pcap) in self.captures() {
            write(&into.join(name), pcap)?;
        }
        for (name, plot) in self.plots() {
            let path = into.join(format!("{name}.svg"));
            let svg = plot.map_err(|error| LabError::file(&path, std::io::Error::other(error)))?;
            write(&path, svg)?;
        }
        Ok(())
    }

    /// Every capture with the name of its file.
    fn captures(&self) -> impl Iterator<Item = (String, &[u8])> {
        let captures = self
            .rows
            .iter()
            .enumerate()
            .flat_map(|(place, row)| row.captures.iter().map(move |capture| (place + 1, row, capture)));
        captures.map(|(number, row, capture)| {
            let what = file_name(&format!("{} {} {}", title(row), capture.host, capture.interface));
            (format!("captures/{number:03}-{what}.pcap"), capture.pcap.as_slice())
        })
    }

    /// The ratios of all profiles beside published ones, as an SVG picture.
    ///
    /// # Errors
    ///
    /// If nothing can be drawn.
    pub fn profiles_plot(&self) -> Result<String, PlotError> {
        let (marks, bars) = profiles::marked(&self.profiles);
        let first = self.profiles.first().and_then(|row| row.ratios.first());
        let title = format!("{}: ratios of goodput, and published ones", self.scenario);
        let name = first.map(|it| it.verdict.name.clone()).unwrap_or_default();
        let limit = first.map(|it| it.verdict.limit);
        plot::marked(&Labels { title: &title, bars: &name, marks: &marks, limit }, &bars)
    }

    /// Every plot with the name of its file.
    fn plots(&self) -> Vec<(String, Result<String, PlotError>)> {
        let groups = settings::for_people(&self.rows);
        let bars: Vec<_> = groups.iter().map(|(key, rows)| bar(key, rows, self.average)).collect();
        let over_time = groups.iter().map(|(key, rows)| over_time(key, rows));
        let over_time: Vec<_> = over_time.chain(event_lines(&self.rows)).collect();
        let goodput = plot::bars(&format!("{}: goodput", self.scenario), "Mbit/s", &bars);
        let mut plots = vec![("goodput".to_owned(), goodput)];
        if self.profiles.is_empty() {
            plots.push(("over-time".to_owned(), plot::lines(&self.scenario, &Line::TIME, &over_time)));
        } else {
            plots.push(("profiles".to_owned(), self.profiles_plot()));
        }
        let by_streams = by_streams(&groups, self.average);
        if by_streams.iter().any(|series| series.points.len() > 1) {
            plots.push(("streams".to_owned(), plot::lines(&self.scenario, &Line::STREAMS, &by_streams)));
        }
        if let Some(model) = &self.model {
            plots.push((
                "model".to_owned(),
                plot::lines(&self.scenario, &Line::BEST_STREAMS, &model.series()),
            ));
        }
        let ranks: Vec<_> = groups.iter().filter(|(key, _)| key.direction.is_none()).map(ranks).collect();
        if !ranks.is_empty() {
            plots.push(("ranks".to_owned(), plot::lines(&self.scenario, &Line::RANK, &ranks)));
        }
        for (place, row) in self.rows.iter().enumerate() {
            let name = format!("streams/{:03}-{}", place + 1, file_name(&title(row)));
            plots
                .push((name, plot::stacked(&title(row), &streams(row), row.capacity_bps / 1e6, &marks(row))));
        }
        plots
    }
}

fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), LabError> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| LabError::file(folder, error))?;
    fs::write(path, content).map_err(|error| LabError::file(path, error))
}

fn bar(key: &Key<'_>, rows: &[&Row], average: Average) -> Bar {
    let all = || rows.iter().map(|row| row.goodput_bps / 1e6);
    let value = average.of(all());
    let range = (rows.len() > 1).then(|| (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max)));
    Bar { name: key.to_string(), value, range }
}

/// The mean of a setting's transfers, interval by interval.
fn over_time(key: &Key<'_>, rows: &[&Row]) -> Series {
    let length = rows.iter().map(|row| row.intervals.len()).min().unwrap_or(0);
    let point = |place: usize| {
        let all = rows.iter().filter_map(|row| row.intervals.get(place));
        let (sum, end) = all.fold((0.0, 0.0), |(sum, _), it| (sum + it.bps, it.end));
        (end, sum / rows.len().max(1) as f64 / 1e6)
    };
    Series { name: key.to_string(), points: (0..length).map(point).collect() }
}

/// A line for each variant, mode and direction: the mean goodput by the number of streams.
fn by_streams(groups: &[(Key<'_>, Vec<&Row>)], average: Average) -> Vec<Series> {
    let mut series: BTreeMap<Key<'_>, Vec<(f64, f64)>> = BTreeMap::new();
    for (key, rows) in groups {
        let mean = average.of(rows.iter().map(|row| row.goodput_bps));
        let points = series.entry(key.of_any_number()).or_default();
        points.push((f64::from(key.connections), mean / 1e6));
    }
    series.into_iter().map(|(key, points)| Series { name: key.to_string(), points }).collect()
}

fn ranks((key, rows): &(Key<'_>, Vec<&Row>)) -> Series {
    let mut shares: Vec<_> = rows.iter().map(|row| row.fraction_of_capacity * 100.0).collect();
    shares.sort_by(f64::total_cmp);
    let points = shares.into_iter().enumerate().map(|(rank, share)| ((rank + 1) as f64, share)).collect();
    Series { name: key.to_string(), points }
}

/// Streams in the order of their ports, the first at the bottom.
fn streams(row: &Row) -> Vec<Series> {
    let mut streams: Vec<_> = row.streams.iter().collect();
    streams.sort_by_key(|stream| (stream.src, stream.src_port));
    streams
        .into_iter()
        .map(|stream| Series { name: stream.title(), points: points(&stream.intervals) })
        .collect()
}

fn marks(row: &Row) -> Vec<Mark> {
    row.shown_events().iter().map(|event| Mark { at: event.at, name: event.title() }).collect()
}

/// The events of the first transfer that has some, as upright lines: those of others differ by fractions of a second.
fn event_lines(rows: &[Row]) -> Vec<Series> {
    let Some(row) = rows.iter().find(|row| !row.shown_events().is_empty()) else { return Vec::new() };
    let top = row.capacity_bps / 1e6;
    let upright = |mark: Mark| Series { name: mark.name, points: vec![(mark.at, 0.0), (mark.at, top)] };
    marks(row).into_iter().map(upright).collect()
}

/// An interval's rate is drawn at its end, and the first one's at its start as well.
fn points(intervals: &[Interval]) -> Vec<(f64, f64)> {
    let first = intervals.first().map(|it| (it.start, it.bps / 1e6));
    first.into_iter().chain(intervals.iter().map(|it| (it.end, it.bps / 1e6))).collect()
}

fn title(row: &Row) -> String {
    let lab = row.lab();
    let variant = if lab.is_empty() { lab } else { format!("{lab} ") };
    let streams = if row.connections > 1 { format!(" {} streams", row.connections) } else { String::new() };
    let run = row.run.map(|run| format!(" run {run}")).unwrap_or_default();
    format!("{variant}{} {} > {}{streams}{run}", row.what(), row.direction.from, row.direction.to)
}

/// A file name: words joined by hyphens.
fn file_name(title: &str) -> String {
    let words = title.split(|it: char| !it.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}
