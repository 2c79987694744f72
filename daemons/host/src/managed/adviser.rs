//! The adviser trait, and its forms that ask controllers over HTTP.

use std::cell::Cell;
use std::time::Duration;

use braid_api::{Advice, AdviceRequest};
use braid_client::{Client, Error};

/// Who knows which subflows a connection should have.
pub trait Adviser: Send {
    /// Advice for one connection; the rules of its subflows are in place.
    ///
    /// # Errors
    ///
    /// There is no answer, or none that can be read.
    fn advise(&self, request: &AdviceRequest) -> Result<Advice, Error>;
}

/// How long a controller is waited for: a connection goes on without it.
pub const TIMEOUT: Duration = Duration::from_secs(2);

/// The most bytes of an answer: the agent runs as root and need not trust the controller's size.
pub const MAX_ANSWER: u64 = 1 << 20;

/// A controller, asked over HTTP: `POST /api/v1/advice`.
impl Adviser for Client {
    fn advise(&self, request: &AdviceRequest) -> Result<Advice, Error> {
        Self::advise(self, request)
    }
}

/// The members of a cluster of controllers: the one that has answered last, and in its absence the others.
///
/// A member that stands by passes a request with a token on to the leader. Without a token only the leader answers.
pub struct Members<A> {
    first: A,
    others: Vec<A>,
    /// The place of the one that has answered last.
    answers: Cell<usize>,
}

impl<A: Adviser> Members<A> {
    /// Begins with the first.
    pub const fn new(first: A, others: Vec<A>) -> Self {
        Self { first, others, answers: Cell::new(0) }
    }

    fn of(&self, place: usize) -> &A {
        place.checked_sub(1).and_then(|place| self.others.get(place)).unwrap_or(&self.first)
    }
}

impl<A: Adviser> Adviser for Members<A> {
    fn advise(&self, request: &AdviceRequest) -> Result<Advice, Error> {
        let (count, answers) = (self.others.len() + 1, self.answers.get());
        let mut place = answers;
        loop {
            let advice = self.of(place).advise(request);
            let next = (place + 1) % count;
            match advice {
                Err(error) if next != answers && may_be_answered_elsewhere(&error) => place = next,
                Err(error) => return Err(error),
                Ok(advice) => {
                    self.answers.set(place);
                    return Ok(advice);
                }
            }
        }
    }
}

/// Others would refuse a wrong request too.
fn may_be_answered_elsewhere(error: &Error) -> bool {
    !matches!(error.status(), Some(400..500))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use braid_api::{Problem, Schema, SubflowEnds};

    use super::*;

    /// Answers with these statuses, one after the other; 200 is advice.
    struct Scripted(Mutex<VecDeque<u16>>);

    impl Adviser for Scripted {
        fn advise(&self, _: &AdviceRequest) -> Result<Advice, Error> {
            let status = self.0.lock().unwrap().pop_front().expect("it is asked too often");
            if status == 200 {
                return Ok(Advice::default());
            }
            let [r#type, title, detail, code] = Default::default();
            let problem =
                Box::new(Problem { schema: Schema, r#type, title, status, detail, code, parameter: None });
            Err(Error::Refused { url: "http://127.0.0.1:1".parse().unwrap(), problem })
        }
    }

    fn members(statuses: [&[u16]; 3]) -> Members<Scripted> {
        let [first, second, third] = statuses.map(|it| Scripted(Mutex::new(it.iter().copied().collect())));
        Members::new(first, vec![second, third])
    }

    /// The statuses of so many requests; 200 is advice.
    fn ask(members: &Members<Scripted>, times: usize) -> Vec<u16> {
        let [local, remote] = ["10.0.0.1:1", "10.0.0.2:2"].map(|it| it.parse().unwrap());
        let request = AdviceRequest {
            connection: SubflowEnds { local, remote },
            local_addresses: Vec::new(),
            remote_addresses: Vec::new(),
            subflows: Vec::new(),
            failed: Vec::new(),
            max_subflows: 1,
        };
        let status =
            |advice: Result<Advice, Error>| advice.map_or_else(|error| error.status().unwrap(), |_| 200);
        (0..times).map(|_| status(members.advise(&request))).collect()
    }

    #[test]
    fn the_member_that_has_answered_is_asked_again_and_in_its_absence_the_next() {
        let members = members([&[200, 503, 200], &[503], &[200, 200, 503]]);
        assert_eq!(ask(&members, 4), [200, 200, 200, 200]);
        assert!(members.others.iter().chain([&members.first]).all(|it| it.0.lock().unwrap().is_empty()));
    }

    #[test]
    fn nobody_is_asked_twice_for_one_answer() {
        let members = members([&[503], &[503], &[503]]);
        assert_eq!(ask(&members, 1), [503]);
    }

    #[test]
    fn a_wrong_request_is_refused_once() {
        let members = members([&[403], &[], &[]]);
        assert_eq!(ask(&members, 1), [403]);
    }
}
