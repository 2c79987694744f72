//! Time slices of API requests: copies in pieces, one request per turn at least, fairness to other tasks.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use braid_control::Settings;
use braid_types::DatapathId;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local};

use super::*;
use crate::clock::Clock;
use crate::engine::Engine;
use crate::http::questions::Questions;
use crate::state_copy::{ConnectedSwitch, Copied, List, Lists, StateCopy, request_part};

const SWITCHES: u64 = 200;

/// The other end of what an engine is asked.
struct Clients {
    questions: Questions,
    copies: mpsc::Sender<CopyRequest>,
    parts: mpsc::Sender<PartRequest>,
}

/// An engine that knows switches, and its clients.
fn answering() -> (AnswerLoop, Clients) {
    let mut engine = Engine::new(Clock::start(), Settings::default(), None);
    for dpid in (1..=SWITCHES).map(DatapathId) {
        engine.join_blank(dpid);
    }
    let (questions, asked) = Questions::new();
    let ((copies, copies_asked), (parts, parts_asked)) = (mpsc::channel(1), mpsc::channel(1));
    let asked = Asked { questions: asked, copies: copies_asked, parts: parts_asked };
    let engine = Rc::new(RefCell::new(engine));
    let answerer = Answerer { engine, cluster: None };
    let answering = AnswerLoop { answerer, asked, next: None, part: None, copy: None };
    (answering, Clients { questions, copies, parts })
}

fn ask_for_copy(copies: &mpsc::Sender<CopyRequest>) -> oneshot::Receiver<StateCopy> {
    let (answer, copy) = oneshot::channel();
    copies.try_send(CopyRequest { lists: Lists::of(&[List::Switches, List::Totals]), answer }).expect("room");
    copy
}

fn ask(questions: &Questions) -> oneshot::Receiver<usize> {
    let (answer, answered) = oneshot::channel();
    let question = |it: &Answerer| _ = answer.send(it.engine.borrow().brain().switches_after(None).count());
    assert!(questions.tell(question), "there is room");
    answered
}

#[test]
fn a_copy_is_made_in_pieces_when_time_is_short_and_at_once_when_it_is_not() {
    let (mut answering, Clients { copies, .. }) = answering();
    let mut copy = ask_for_copy(&copies);
    let mut turns = 0;
    let made = loop {
        answering.serve(Instant::now());
        turns += 1;
        if let Ok(copy) = copy.try_recv() {
            break copy;
        }
    };
    assert_eq!((made.switches.len() as u64, made.totals.sizes.switches), (SWITCHES, SWITCHES));
    assert!(made.switches.is_sorted_by_key(|switch| switch.switch.dpid));
    assert!((SWITCHES / 10..=SWITCHES).contains(&turns), "{turns}");
    let mut copy = ask_for_copy(&copies);
    answering.serve(Instant::now() + Duration::from_secs(60));
    assert!(copy.try_recv().is_ok());
}

#[test]
fn a_part_overtakes_a_copy_that_goes_on_beside_it() {
    let (mut answering, Clients { copies, parts, .. }) = answering();
    let _copy = ask_for_copy(&copies);
    answering.serve(Instant::now());
    for (after, count) in [(None, SWITCHES), (Some(DatapathId(150)), SWITCHES - 150)] {
        let (request, mut part) = request_part::<ConnectedSwitch>(after);
        assert!(parts.try_send(request).is_ok(), "there is room");
        let (mut turns, piece) = (0, ConnectedSwitch::PIECE as u64);
        let part = loop {
            answering.serve(Instant::now());
            turns += 1;
            if let Ok(part) = part.try_recv() {
                break part;
            }
        };
        assert_eq!((part.items.len() as u64, part.is_last), (count, true));
        assert!((count / piece..=count / piece + 1).contains(&turns), "{turns}");
    }
    assert!(answering.copy.is_none(), "it had a piece of each turn");
}

#[test]
fn a_turn_answers_one_question_at_least_and_leaves_the_rest_for_the_next() {
    let (mut answering, Clients { questions, copies, .. }) = answering();
    let mut answers: Vec<_> = (0..40).map(|_| ask(&questions)).collect();
    let _copy = ask_for_copy(&copies);
    let mut answered = || answers.extract_if(.., |answer| answer.try_recv().is_ok()).count();
    answering.serve(Instant::now());
    assert_eq!(answered(), 1);
    assert!(answering.copy.is_some(), "and the copy goes on beside them");
    answering.serve(Instant::now() + Duration::from_secs(60));
    assert_eq!(answered(), MAX_QUESTIONS);
}

#[test]
fn others_on_the_thread_have_their_turn_between_all_that_is_asked() {
    const QUESTIONS: usize = 60;
    let (answering, Clients { questions, copies, .. }) = answering();
    let turns = Rc::new(Cell::new(0));
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let others = turns.clone();
    LocalSet::new().block_on(&runtime, async move {
        let answers: Vec<_> = (0..QUESTIONS).map(|_| ask(&questions)).collect();
        let copy = ask_for_copy(&copies);
        spawn_local(answer(answering.answerer.engine, None, answering.asked));
        spawn_local(async move {
            loop {
                others.set(others.get() + 1);
                yield_now().await;
            }
        });
        for answer in answers {
            assert_eq!(answer.await, Ok(SWITCHES as usize));
        }
        copy.await.expect("a copy");
    });
    assert!(turns.get() >= QUESTIONS / MAX_QUESTIONS, "{}", turns.get());
}

#[test]
fn slices_grow_with_the_turns_of_others_within_bounds() {
    let micros = |micros| slice(Duration::from_micros(micros)).as_micros();
    assert_eq!([0, 700, 1_600, 1_000_000].map(micros), [50, 50, 100, 1_000]);
}
