//! Server-sent events of a controller's streams.

use std::io::{self, BufRead, BufReader, Lines, Read};

use crate::{Client, Error, Url};

/// A message of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Its id, with which a later stream continues after it.
    pub id: String,
    /// Its name, such as `event`.
    pub event: String,
    /// Its data: JSON.
    pub data: String,
}

/// The messages of a stream, until the controller ends it.
pub struct Messages {
    url: Url,
    lines: Lines<BufReader<Box<dyn Read + Send>>>,
    id: String,
    event: String,
}

impl Client {
    /// The messages of the stream `name` (`stream` or `events/stream`) that follow the one with the id `last`. It ends when
    /// the controller goes, or drops a client that is too slow for it.
    ///
    /// # Errors
    ///
    /// There is no stream.
    pub fn messages(&self, name: &str, last: &str) -> Result<Messages, Error> {
        let response = self.open(&format!("/api/v1/{name}"), last)?;
        Ok(Messages::new(self.url().clone(), response.into_body().into_reader()))
    }
}

impl Messages {
    fn new(url: Url, stream: impl Read + Send + 'static) -> Self {
        let stream: Box<dyn Read + Send> = Box::new(stream);
        Self { url, lines: BufReader::new(stream).lines(), id: String::new(), event: String::new() }
    }
}

impl Iterator for Messages {
    type Item = Result<Message, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.lines.next()? {
                Ok(line) => line,
                Err(error) if is_end(&error) => return None,
                Err(error) => return Some(Err(Error::failed(&self.url, error.to_string()))),
            };
            match line.split_once(": ") {
                Some(("id", value)) => value.clone_into(&mut self.id),
                Some(("event", value)) => value.clone_into(&mut self.event),
                Some(("data", data)) => {
                    let (id, event) = (self.id.clone(), self.event.clone());
                    return Some(Ok(Message { id, event, data: data.to_owned() }));
                }
                _ => {}
            }
        }
    }
}

fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionReset, Other, TimedOut, UnexpectedEof};
    [UnexpectedEof, ConnectionReset, TimedOut, Other].contains(&error.kind())
}

impl std::fmt::Debug for Messages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Messages").field("url", &self.url).field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_has_its_id_name_and_data() {
        let text = "retry: 1000\n\nid: a-3\nevent: begin\ndata: {}\n\n:\n\nid: a-4\nevent: event\ndata: {\"at\":1}\n\n";
        let messages = Messages::new("http://c".parse().expect("a URL"), text.as_bytes());
        let found: Vec<_> = messages.map(|message| message.expect("a message")).collect();
        let message = |id: &str, event: &str, data: &str| Message {
            id: id.to_owned(),
            event: event.to_owned(),
            data: data.to_owned(),
        };
        assert_eq!(found, [message("a-3", "begin", "{}"), message("a-4", "event", r#"{"at":1}"#)]);
    }
}
