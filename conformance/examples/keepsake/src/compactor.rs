//! The compactor. It knows nothing of the protocol: `main.rs` is its adapter.
//!
//! A session is a folder of two files.
//!
//! * `originals`: the content of every turn, one after the other, exactly as it came. Nothing is ever moved in it;
//!   an original that is evicted is overwritten with zeros.
//! * `journal`: one line for each thing that happened, with a checksum before it. What is not in the journal did not
//!   happen. The state in memory is what the journal's lines make of an empty one, so opening a session again after
//!   a crash is the same as reading it.
//!
//! A compaction writes two lines: the summary, and then the commit that puts it in the place of what it stands for. If
//! the process dies between the two, the summary is never seen. The originals were durable before either.

use crate::json::{number, object, text, texts, Json};
use std::collections::hash_map::RandomState;
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The writes of a compaction, in order. After each of them the process can be made to die, and each can be made to fail.
pub const STEPS: [&str; 2] = ["summary", "commit"];

/// Without a budget: how many items stay as they are.
const KEPT: usize = 4;

const INSTRUCTIONS: &str = "Summarise the conversation so far for the agent that goes on with it. Keep names, numbers, paths, \
    decisions and open questions word for word. Say nothing that it does not say. Answer with the summary alone.";

/// How an answer begins that is no summary, in small letters: a refusal, or an error that came as a text.
const NO_SUMMARY: [&str; 18] = [
    "i'm sorry",
    "i am sorry",
    "i can't",
    "i cannot",
    "i can not",
    "i'm unable",
    "i am unable",
    "i'm not able",
    "i won't",
    "sorry",
    "unfortunately",
    "as an ai",
    "error:",
    "error code",
    "{\"error",
    "request timed out",
    "timeout",
    "traceback",
];

/// The last line of a summary begins so; its pointers follow.
const FOOTER: &str = "[originals: ";

// ---------------------------------------------------------------------------------------------------- the model

pub enum Finish {
    Stop,
    Length,
    Refusal,
    /// Anything else: a filter stopped it, or it calls a tool.
    Other,
}

pub struct Reply {
    pub text: String,
    pub finish: Finish,
}

pub trait Model {
    fn summarise(&mut self, messages: &[String]) -> Result<Reply, String>;
}

// --------------------------------------------------------------------------------------------------- the values

#[derive(Clone, Default)]
pub struct Settings {
    pub budget: Option<usize>,
    pub watermark: Option<f64>,
    /// Whether the budget counts items; else it counts tokens, of four characters each.
    pub items: bool,
}

#[derive(Clone, PartialEq)]
pub enum Content {
    Text(String),
    Bytes(Vec<u8>),
}

impl Content {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Content::Text(text) => text.as_bytes(),
            Content::Bytes(bytes) => bytes,
        }
    }

    /// As a model can be shown it: what is no character becomes U+FFFD.
    pub fn shown(&self) -> String {
        match self {
            Content::Text(text) => text.clone(),
            Content::Bytes(bytes) => shown(bytes),
        }
    }
}

/// A message as it enters. Tool calls are already written into its content.
#[derive(Clone)]
pub struct Turn {
    pub id: String,
    pub speaker: String,
    pub content: Content,
    /// Ids of the calls that it issues, and of the call that it answers.
    pub calls: Vec<String>,
    pub answers: Option<String>,
    pub status: Option<String>,
    /// Must stay in the window as it is.
    pub protected: bool,
}

/// A turn with the place of its original.
struct Kept {
    turn: Turn,
    at: u64,
    length: usize,
    sum: u64,
    evicted: bool,
}

struct Summary {
    id: String,
    text: String,
    /// The turns that it stands for, as places in `State::turns`; those of the summaries that it replaced as well.
    covers: Vec<usize>,
    generation: usize,
    /// The words of an evicted original stand in it and maybe nowhere else: it stays.
    pinned: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Slot {
    Turn(usize),
    Summary(usize),
}

#[derive(Default)]
struct State {
    store: String,
    turns: Vec<Kept>,
    summaries: Vec<Summary>,
    window: Vec<Slot>,
}

pub struct Item {
    pub id: String,
    pub content: Content,
    pub speaker: Option<String>,
    /// For a summary: the ids of the turns that it stands for, and its generation.
    pub summary: Option<(Vec<String>, usize)>,
}

pub struct Pointer {
    pub summary: String,
    pub token: String,
    pub turn: String,
}

pub enum Outcome {
    Committed { summary: Option<String>, covered: Vec<String> },
    Nothing,
    Refused { reason: String, facts: Vec<String> },
    Failed(String),
}

pub enum Found {
    Original {
        content: Content,
        turn: String,
    },
    Value {
        value: String,
        content: Content,
        turn: String,
    },
    /// Only a summary's words: the original was evicted.
    Summary {
        text: String,
        value: Option<String>,
        id: String,
    },
    /// The original is there, and is not what it was.
    Damaged(String),
    Evicted,
    Foreign,
    Nothing,
}

/// Why an operation ended without an outcome.
pub enum Trouble {
    /// The store did not let it happen: nothing changed.
    Store(io::Error),
    /// The process "died" on the way.
    Died,
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Store(error)
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum Fault {
    Crash,
    Error,
    Silent,
    Short,
    /// As an error, and so is every later one of this compaction.
    Full,
}

// ------------------------------------------------------------------------------------------------ the compactor

pub struct Compactor {
    folder: PathBuf,
    settings: Settings,
    journal: File,
    originals: File,
    /// How long both files are as far as they are known to be good.
    journal_end: u64,
    originals_end: u64,
    state: State,
    /// For tests: what happens to the next compaction, and at which step.
    armed: Option<(String, Fault)>,
    full: bool,
}

impl Compactor {
    /// Begin a session in a folder of its own.
    pub fn create(folder: &Path, settings: Settings) -> io::Result<Compactor> {
        fs::create_dir_all(folder)?;
        let mut compactor = Compactor::load(folder, settings)?;
        let store = format!("{:016x}", RandomState::new().build_hasher().finish());
        compactor.log(object([("do", text("open")), ("store", text(store))]), None)?;
        // The names of the new files have to be durable too.
        File::open(folder)?.sync_all()?;
        Ok(compactor)
    }

    /// Go on with a session, from what is in its folder.
    pub fn load(folder: &Path, settings: Settings) -> io::Result<Compactor> {
        let open = |name| OpenOptions::new().read(true).write(true).create(true).truncate(false).open(folder.join(name));
        let (mut journal, originals) = (open("journal")?, open("originals")?);
        let mut written = Vec::new();
        journal.read_to_end(&mut written)?;
        let mut state = State::default();
        let mut end = 0;
        for line in written.split_inclusive(|byte| *byte == b'\n') {
            if let Some(record) = unseal(line) {
                state.apply(&record);
                end += line.len();
            } else if end + line.len() < written.len() {
                return Err(io::Error::other(format!("the journal is damaged at byte {end}")));
            }
            // Else it is the last line, and where an earlier process died: it was never acknowledged, and goes.
        }
        let end = end as u64;
        journal.set_len(end)?;
        let originals_end = state.turns.last().map_or(0, |kept| kept.at + kept.length as u64);
        let folder = folder.to_path_buf();
        let mut compactor =
            Compactor { folder, settings, journal, originals, journal_end: end, originals_end, state, armed: None, full: false };
        // A process that died between deciding on an eviction and doing it left that to us; and the window needs its words.
        for place in 0..compactor.state.turns.len() {
            if compactor.state.turns[place].evicted {
                compactor.erase(place)?;
            } else {
                let content = compactor.original(place).unwrap_or(Content::Text("(this turn is damaged)".to_string()));
                compactor.state.turns[place].turn.content = content;
            }
        }
        Ok(compactor)
    }

    pub fn append(&mut self, turn: Turn) -> io::Result<()> {
        // The same turn once more: nothing to add.
        let bytes = turn.content.bytes();
        if self.state.turns.iter().any(|kept| kept.turn.id == turn.id && kept.sum == checksum(bytes)) {
            return Ok(());
        }
        let (at, length) = (self.originals_end, bytes.len());
        self.originals.seek(SeekFrom::Start(at))?;
        self.originals.write_all(bytes)?;
        self.originals.sync_data()?;
        let record = object([
            ("do", text("append")),
            ("id", text(&*turn.id)),
            ("speaker", text(&*turn.speaker)),
            ("calls", texts(&turn.calls)),
            ("answers", turn.answers.as_deref().map_or(Json::Null, text)),
            ("status", turn.status.as_deref().map_or(Json::Null, text)),
            ("protected", Json::Bool(turn.protected)),
            ("is_text", Json::Bool(matches!(turn.content, Content::Text(_)))),
            ("at", number(at as usize)),
            ("length", number(length)),
            ("sum", text(format!("{:016x}", checksum(bytes)))),
        ]);
        self.log(record, None)?;
        self.originals_end = at + length as u64;
        if let Some(kept) = self.state.turns.last_mut() {
            kept.turn.content = turn.content;
        }
        Ok(())
    }

    /// What the model would be sent now.
    pub fn window(&self) -> Vec<Item> {
        self.state.window.iter().map(|slot| self.item(*slot)).collect()
    }

    /// Empty the window. The originals stay.
    pub fn clear(&mut self) -> io::Result<()> {
        self.log(object([("do", text("clear"))]), None)
    }

    // ------------------------------------------------------------------------------------------------ compaction

    pub fn compact(&mut self, model: &mut dyn Model) -> Result<Outcome, Trouble> {
        let outcome = self.compact_spans(model);
        self.armed = None;
        self.full = false;
        outcome
    }

    fn compact_spans(&mut self, model: &mut dyn Model) -> Result<Outcome, Trouble> {
        let mut outcome = self.idle();
        for span in self.choose() {
            outcome = self.replace(&span, model)?;
            // One span that does not work out does not stop the rest.
            if matches!(outcome, Outcome::Committed { .. }) {
                break;
            }
        }
        Ok(outcome)
    }

    /// How many tokens, or items, the window may hold; none where only items beyond the newest few are compacted.
    fn limit(&self) -> Option<usize> {
        let budget = self.settings.budget? as f64;
        Some((budget * self.settings.watermark.unwrap_or(1.0)) as usize)
    }

    fn total(&self) -> usize {
        self.state.window.iter().map(|slot| self.size(*slot)).sum()
    }

    /// The outcome where there is nothing to replace.
    fn idle(&self) -> Outcome {
        match self.limit() {
            Some(limit) if self.total() > limit => {
                let ids: Vec<String> = self.window().into_iter().map(|item| item.id).collect();
                let reason = format!("the window is over its watermark, and all of it has to stay: {}", ids.join(", "));
                Outcome::Refused { reason, facts: Vec::new() }
            }
            _ => Outcome::Nothing,
        }
    }

    /// What to replace, and, if that does not work out, halves of it.
    fn choose(&self) -> Vec<Vec<Slot>> {
        let rooms = match self.limit() {
            None => vec![KEPT],
            Some(limit) if self.total() <= limit => return Vec::new(),
            // A quarter of it for the newest items; less where the rest cannot be made smaller any more.
            Some(limit) => vec![limit / 4, limit / 8, 0],
        };
        rooms.into_iter().map(|room| self.spans(room)).find(|spans| !spans.is_empty()).unwrap_or_default()
    }

    /// Everything but the newest items, as many as there is room for and at least one, and what has to stay.
    fn spans(&self, room: usize) -> Vec<Vec<Slot>> {
        let window = &self.state.window;
        let mut tail = window.len();
        let mut used = 0;
        while tail > 0 {
            used += if self.settings.budget.is_some() { self.size(window[tail - 1]) } else { 1 };
            if used > room && tail < window.len() {
                break;
            }
            tail -= 1;
        }
        let asked = |slot: &&Slot| matches!(slot, Slot::Turn(place) if self.state.turns[*place].turn.speaker == "user");
        let request = window.iter().rev().find(asked);
        let goes = |slot: &Slot| Some(slot) != request && !self.must_stay(*slot);
        let mut chosen: Vec<Slot> = window[..tail].iter().copied().filter(goes).collect();
        // A call and its answers go together or not at all; one that has no answer yet does not go.
        loop {
            let before = chosen.len();
            let going: HashSet<&str> = chosen.iter().flat_map(|slot| self.calls(*slot)).collect();
            let answered: HashSet<&str> = chosen.iter().filter_map(|slot| self.answers(*slot)).collect();
            let staying: HashSet<&str> =
                window.iter().filter(|slot| !chosen.contains(slot)).flat_map(|slot| self.calls(*slot)).collect();
            let keep: Vec<bool> = chosen
                .iter()
                .map(|slot| {
                    let complete = self.calls(*slot).all(|call| answered.contains(call));
                    let alone = self.answers(*slot).is_some_and(|call| staying.contains(call) && !going.contains(call));
                    complete && !alone
                })
                .collect();
            let mut keep = keep.into_iter();
            chosen.retain(|_| keep.next().unwrap_or(false));
            if chosen.len() == before {
                break;
            }
        }
        if let [] | [Slot::Summary(_)] = chosen[..] {
            return Vec::new();
        }
        // Cut in halves where no call is parted from its answer.
        let parts = |cut: &usize| {
            let going: HashSet<&str> = chosen[..*cut].iter().flat_map(|slot| self.calls(*slot)).collect();
            !chosen[*cut..].iter().filter_map(|slot| self.answers(*slot)).any(|call| going.contains(call))
        };
        let middle = chosen.len() / 2;
        let mut spans = vec![chosen.clone()];
        if let Some(cut) = (middle.max(1)..chosen.len()).find(parts) {
            spans.push(chosen[..cut].to_vec());
            spans.push(chosen[cut..].to_vec());
            spans.retain(|span| !matches!(span[..], [Slot::Summary(_)]));
        }
        spans
    }

    /// Have the model summarise the span, look at what it says, and put it in the span's place.
    fn replace(&mut self, span: &[Slot], model: &mut dyn Model) -> Result<Outcome, Trouble> {
        let mut messages = vec![INSTRUCTIONS.to_string()];
        messages.extend(span.iter().map(|slot| {
            // An earlier summary without its pointers: the new one gets its own.
            let shown = self.item(*slot).content.shown();
            let footer = if let Slot::Summary(_) = slot { shown.rfind(FOOTER) } else { None };
            shown[..footer.unwrap_or(shown.len())].trim_end().to_string()
        }));
        let reply = match model.summarise(&messages) {
            Ok(reply) => reply,
            Err(error) => return Ok(Outcome::Failed(format!("the model failed: {error}"))),
        };
        let said = reply.text.trim();
        let given = &messages[1..];
        let replaced: usize = given.iter().map(|message| message.chars().count()).sum();
        let small = said.to_lowercase().replace('’', "'");
        let wrong = match reply.finish {
            Finish::Length => "it was cut off at its token limit",
            Finish::Refusal => "the model refused",
            Finish::Other => "the model stopped before its end",
            Finish::Stop if said.is_empty() => "it is empty",
            Finish::Stop if NO_SUMMARY.iter().any(|start| small.starts_with(start)) => "it reads like a refusal or an error",
            Finish::Stop if spaced(&given.join(" ")).contains(&spaced(said)) => "it only repeats what it was given",
            Finish::Stop if said.chars().count() >= replaced => "it is not shorter than what it is to replace",
            Finish::Stop => "",
        };
        if !wrong.is_empty() {
            return Ok(Outcome::Refused { reason: format!("the summary was not taken: {wrong}"), facts: Vec::new() });
        }
        let id = format!("summary-{}", self.state.summaries.len() + 1);
        let covers = self.state.turns_under(span);
        let footer = format!("{FOOTER}{}]", self.ranges(&covers));
        let room = (replaced / 4).min(replaced - said.chars().count());
        let left_out = left_out(given, said, room);
        let covered: Vec<String> = span.iter().map(|slot| self.item(*slot).id).collect();
        let record = object([
            ("do", text("summary")),
            ("id", text(&*id)),
            ("text", text(format!("{said}\n{left_out}{footer}"))),
            ("covers", Json::List(covers.iter().map(|place| number(*place)).collect())),
            ("generation", number(1 + self.state.generation(span))),
        ]);
        let (mut turns, mut summaries) = (Vec::new(), Vec::new());
        for slot in span {
            match slot {
                Slot::Turn(place) => turns.push(number(*place)),
                Slot::Summary(place) => summaries.push(number(*place)),
            }
        }
        let commit = object([
            ("do", text("commit")),
            ("summary", text(&*id)),
            ("turns", Json::List(turns)),
            ("summaries", Json::List(summaries)),
        ]);
        for (step, record) in STEPS.into_iter().zip([record, commit]) {
            if let Err(error) = self.log(record, Some(step)) {
                return Ok(Outcome::Failed(format!("the store failed: {error}")));
            }
            if self.armed == Some((step.to_string(), Fault::Crash)) {
                return Err(Trouble::Died);
            }
        }
        Ok(Outcome::Committed { summary: Some(id), covered })
    }

    /// The tokens of these turns for the model to read, those in a row as "first to last".
    fn ranges(&self, covers: &[usize]) -> String {
        let rows = covers.chunk_by(|left, right| left + 1 == *right);
        let rows = rows.map(|row| match row {
            [only] => self.token(*only),
            _ => format!("{} to {}", self.token(row[0]), self.token(row[row.len() - 1])),
        });
        rows.collect::<Vec<_>>().join(", ")
    }

    /// System turns, protected turns, summaries in the place of evicted originals. (The latest request stays too.)
    fn must_stay(&self, slot: Slot) -> bool {
        match slot {
            Slot::Turn(place) => {
                let turn = &self.state.turns[place].turn;
                turn.protected || turn.speaker == "system"
            }
            Slot::Summary(place) => self.state.summaries[place].pinned,
        }
    }

    fn calls(&self, slot: Slot) -> impl Iterator<Item = &str> {
        let calls: &[String] = if let Slot::Turn(place) = slot { &self.state.turns[place].turn.calls } else { &[] };
        calls.iter().map(String::as_str)
    }

    fn answers(&self, slot: Slot) -> Option<&str> {
        if let Slot::Turn(place) = slot {
            self.state.turns[place].turn.answers.as_deref()
        } else {
            None
        }
    }

    fn item(&self, slot: Slot) -> Item {
        match slot {
            Slot::Turn(place) => {
                let turn = &self.state.turns[place].turn;
                Item { id: turn.id.clone(), content: turn.content.clone(), speaker: Some(turn.speaker.clone()), summary: None }
            }
            Slot::Summary(place) => {
                let summary = &self.state.summaries[place];
                let covers = summary.covers.iter().map(|place| self.state.turns[*place].turn.id.clone()).collect();
                let content = Content::Text(summary.text.clone());
                Item { id: summary.id.clone(), content, speaker: None, summary: Some((covers, summary.generation)) }
            }
        }
    }

    /// In tokens, or 1 where items are counted.
    fn size(&self, slot: Slot) -> usize {
        if self.settings.items {
            1
        } else {
            self.item(slot).content.shown().chars().count().div_ceil(4)
        }
    }

    // ------------------------------------------------------------------------------------------------- retrieval

    /// Every pointer that a summary in the window carries.
    pub fn pointers(&self) -> Vec<Pointer> {
        let mut pointers = Vec::new();
        for slot in &self.state.window {
            let Slot::Summary(place) = slot else { continue };
            let summary = &self.state.summaries[*place];
            for place in summary.covers.iter().filter(|place| !self.state.turns[**place].evicted) {
                let turn = self.state.turns[*place].turn.id.clone();
                pointers.push(Pointer { summary: summary.id.clone(), token: self.token(*place), turn });
            }
        }
        pointers
    }

    /// A pointer names the store, the turn, and a check over both and the turn's words: none of another store, and none
    /// that was made up, leads anywhere.
    fn token(&self, place: usize) -> String {
        let named = format!("keep:{}:{}", self.state.store, place + 1);
        let check = checksum(format!("{named}:{:016x}", self.state.turns[place].sum).as_bytes()) as u32;
        format!("{named}:{check:08x}")
    }

    fn place(&self, token: &str) -> Option<usize> {
        let place = token.split(':').nth(2)?.parse::<usize>().ok()?.checked_sub(1)?;
        (place < self.state.turns.len() && self.token(place) == token).then_some(place)
    }

    pub fn get(&mut self, token: &str) -> Found {
        let Some(place) = self.place(token) else { return Found::Foreign };
        if self.state.turns[place].evicted {
            return Found::Evicted;
        }
        match self.original(place) {
            Some(content) => Found::Original { content, turn: self.state.turns[place].turn.id.clone() },
            None => Found::Damaged(format!("the original of {} is damaged", self.state.turns[place].turn.id)),
        }
    }

    /// The newest original that says it.
    pub fn search(&mut self, literal: &str) -> Found {
        self.look_up(|content| contains(content.bytes(), literal.as_bytes()).then_some(None))
    }

    /// What the newest original that speaks of the slot says of it: "subject … attribute … value".
    pub fn reconstitute(&mut self, subject: &str, attribute: &str) -> Found {
        self.look_up(|content| value(&content.shown(), subject, attribute).map(Some))
    }

    fn look_up(&mut self, matches: impl Fn(&Content) -> Option<Option<String>>) -> Found {
        let mut damaged = None;
        for place in (0..self.state.turns.len()).rev() {
            let turn = self.state.turns[place].turn.id.clone();
            if self.state.turns[place].evicted {
                continue;
            }
            let Some(content) = self.original(place) else {
                damaged.get_or_insert(turn);
                continue;
            };
            match matches(&content) {
                Some(Some(value)) => return Found::Value { value, content, turn },
                Some(None) => return Found::Original { content, turn },
                None => {}
            }
        }
        // Words of an evicted original live on in the summary that was its reason to go.
        for summary in self.state.summaries.iter().rev().filter(|summary| summary.pinned) {
            if let Some(value) = matches(&Content::Text(summary.text.clone())) {
                return Found::Summary { text: summary.text.clone(), value, id: summary.id.clone() };
            }
        }
        match damaged {
            Some(turn) => Found::Damaged(format!("the original of {turn} is damaged and was not searched")),
            None => Found::Nothing,
        }
    }

    /// Why not everything that was said can be had as it was said; none where it can. It reads every original.
    pub fn degraded(&mut self) -> Option<String> {
        let mut reasons = Vec::new();
        for place in 0..self.state.turns.len() {
            let id = self.state.turns[place].turn.id.clone();
            if self.state.turns[place].evicted {
                reasons.push(format!("the original of {id} was evicted"));
            } else if self.original(place).is_none() {
                reasons.push(format!("the original of {id} is damaged"));
            }
        }
        (!reasons.is_empty()).then(|| format!("{} of {} turns: {}", reasons.len(), self.state.turns.len(), reasons.join("; ")))
    }

    // -------------------------------------------------------------------------------------------------- eviction

    /// Remove an original, if every word of it stands elsewhere: in another original, or in a summary of the window, which
    /// then has to stay there.
    pub fn evict(&mut self, token: &str) -> io::Result<Outcome> {
        let refused = |reason: &str, facts| Ok(Outcome::Refused { reason: reason.to_string(), facts });
        let Some(place) = self.place(token) else { return refused("no such pointer", Vec::new()) };
        if self.state.turns[place].evicted {
            return Ok(Outcome::Nothing);
        }
        if self.state.window.contains(&Slot::Turn(place)) {
            return refused("the turn is in the window", Vec::new());
        }
        let Some(content) = self.original(place) else { return refused("the original is damaged", Vec::new()) };
        if let Some(reason) = self.degraded() {
            return refused(&format!("something is lost already: {reason}"), vec![content.shown()]);
        }
        let mut anchored = false;
        for other in (0..self.state.turns.len()).filter(|other| *other != place) {
            if !self.state.turns[other].evicted {
                anchored |= self.original(other).is_some_and(|other| contains(other.bytes(), content.bytes()));
            }
        }
        let mut pinned = Json::Null;
        if !anchored {
            let carrier = self.state.window.iter().find_map(|slot| match slot {
                Slot::Summary(place) => {
                    Some(&self.state.summaries[*place]).filter(|summary| contains(summary.text.as_bytes(), content.bytes()))
                }
                Slot::Turn(_) => None,
            });
            let Some(carrier) = carrier else {
                return refused("nothing else says what this original says", vec![content.shown()]);
            };
            pinned = text(&*carrier.id);
        }
        self.log(object([("do", text("evict")), ("turn", number(place)), ("pinned", pinned)]), None)?;
        self.erase(place)?;
        Ok(Outcome::Committed { summary: None, covered: Vec::new() })
    }

    fn erase(&mut self, place: usize) -> io::Result<()> {
        let kept = &self.state.turns[place];
        self.originals.seek(SeekFrom::Start(kept.at))?;
        self.originals.write_all(&vec![0; kept.length])?;
        self.originals.sync_data()
    }

    // ------------------------------------------------------------------------------------------------- the files

    /// The content of a turn as it is on the disk; none where that is not what was written.
    fn original(&mut self, place: usize) -> Option<Content> {
        let kept = &self.state.turns[place];
        let mut bytes = vec![0; kept.length];
        self.originals.seek(SeekFrom::Start(kept.at)).ok()?;
        self.originals.read_exact(&mut bytes).ok()?;
        if checksum(&bytes) != kept.sum {
            return None;
        }
        match kept.turn.content {
            Content::Text(_) => String::from_utf8(bytes).ok().map(Content::Text),
            Content::Bytes(_) => Some(Content::Bytes(bytes)),
        }
    }

    /// Write a line of the journal, make it durable, see that it is there, and only then let it change the state.
    fn log(&mut self, record: Json, step: Option<&str>) -> io::Result<()> {
        let line = seal(&record);
        let fault = self.armed.as_ref().filter(|(at, _)| Some(at.as_str()) == step).map(|(_, fault)| *fault);
        let written = self.write(&line, fault).and_then(|()| {
            let mut found = Vec::new();
            self.journal.seek(SeekFrom::Start(self.journal_end))?;
            self.journal.read_to_end(&mut found)?;
            if found == line {
                Ok(())
            } else {
                Err(io::Error::other("what was written is not there"))
            }
        });
        if let Err(error) = written {
            self.journal.set_len(self.journal_end)?;
            return Err(error);
        }
        self.journal_end += line.len() as u64;
        self.state.apply(&record);
        Ok(())
    }

    fn write(&mut self, line: &[u8], fault: Option<Fault>) -> io::Result<()> {
        self.journal.seek(SeekFrom::Start(self.journal_end))?;
        match fault {
            _ if self.full => return Err(io::Error::other("no space left (made up for a test)")),
            Some(Fault::Full) => {
                self.full = true;
                return Err(io::Error::other("no space left (made up for a test)"));
            }
            Some(Fault::Error) => return Err(io::Error::other("no space left (made up for a test)")),
            Some(Fault::Silent) => return Ok(()),
            Some(Fault::Short) => self.journal.write_all(&line[..line.len() / 2])?,
            Some(Fault::Crash) | None => self.journal.write_all(line)?,
        }
        self.journal.sync_data()
    }

    // ------------------------------------------------------------------------------------------- for tests alone

    /// The next compaction dies at this step, or its write there fails.
    pub fn arm(&mut self, step: &str, fault: Fault) {
        self.armed = Some((step.to_string(), fault));
    }

    /// Damage the original under a pointer. Says whether there was one.
    pub fn corrupt(&mut self, token: &str) -> io::Result<bool> {
        let Some(place) = self.place(token) else { return Ok(false) };
        let kept = &self.state.turns[place];
        if kept.length == 0 || kept.evicted {
            return Ok(false);
        }
        let (at, mut byte) = (kept.at + kept.length as u64 / 2, [0]);
        self.originals.seek(SeekFrom::Start(at))?;
        self.originals.read_exact(&mut byte)?;
        self.originals.seek(SeekFrom::Start(at))?;
        self.originals.write_all(&[byte[0] ^ 1])?;
        Ok(true)
    }

    /// Power is lost: what was not synced is gone. Everything is, before it is acknowledged.
    pub fn lose_power(self) -> io::Result<()> {
        self.journal.set_len(self.journal_end)?;
        self.originals.set_len(self.originals_end)
    }

    /// What opening it again needs.
    pub fn place_of_session(&self) -> (PathBuf, Settings) {
        (self.folder.clone(), self.settings.clone())
    }
}

impl State {
    /// What a line of the journal does. It is called when the line has become durable, and again when it is read.
    fn apply(&mut self, record: &Json) {
        let of = |name: &str| record.get(name).as_text().unwrap_or_default().to_string();
        let count = |name: &str| record.get(name).as_count().unwrap_or_default();
        match record.get("do").as_text() {
            Some("open") => self.store = of("store"),
            Some("append") => {
                let is_text = record.get("is_text").as_bool() == Some(true);
                let turn = Turn {
                    id: of("id"),
                    speaker: of("speaker"),
                    content: if is_text { Content::Text(String::new()) } else { Content::Bytes(Vec::new()) },
                    calls: record.get("calls").members().iter().filter_map(|id| id.as_text().map(str::to_string)).collect(),
                    answers: record.get("answers").as_text().map(str::to_string),
                    status: record.get("status").as_text().map(str::to_string),
                    protected: record.get("protected").as_bool() == Some(true),
                };
                let sum = u64::from_str_radix(&of("sum"), 16).unwrap_or_default();
                self.window.push(Slot::Turn(self.turns.len()));
                self.turns.push(Kept { turn, at: count("at") as u64, length: count("length"), sum, evicted: false });
            }
            Some("summary") => {
                let (id, text) = (of("id"), of("text"));
                let covers = record.get("covers").members().iter().filter_map(Json::as_count).collect();
                self.summaries.push(Summary { id, text, covers, generation: count("generation"), pinned: false });
            }
            Some("commit") => {
                let id = of("summary");
                let Some(summary) = self.summaries.iter().position(|summary| summary.id == id) else { return };
                let places = |name| record.get(name).members().iter().filter_map(Json::as_count).collect();
                let (turns, summaries): (HashSet<usize>, HashSet<usize>) = (places("turns"), places("summaries"));
                let goes = |slot: &Slot| match slot {
                    Slot::Turn(place) => turns.contains(place),
                    Slot::Summary(place) => summaries.contains(place),
                };
                // The summary stands where the first of what it replaces stood.
                let at = self.window.iter().position(goes).unwrap_or_default();
                self.window.retain(|slot| !goes(slot));
                self.window.insert(at, Slot::Summary(summary));
            }
            Some("evict") => {
                self.turns[count("turn")].evicted = true;
                let pinned = of("pinned");
                for summary in self.summaries.iter_mut().filter(|summary| summary.id == pinned) {
                    summary.pinned = true;
                }
            }
            Some("clear") => self.window.clear(),
            _ => {}
        }
    }

    fn turns_under(&self, span: &[Slot]) -> Vec<usize> {
        let mut places = Vec::new();
        for slot in span {
            match slot {
                Slot::Turn(place) => places.push(*place),
                Slot::Summary(place) => places.extend(&self.summaries[*place].covers),
            }
        }
        places.sort_unstable();
        places
    }

    fn generation(&self, span: &[Slot]) -> usize {
        let of = |slot: &Slot| if let Slot::Summary(place) = slot { self.summaries[*place].generation } else { 0 };
        span.iter().map(of).max().unwrap_or_default()
    }
}

// ------------------------------------------------------------------------------------------------- small helpers

/// FNV-1a. It finds damage; it does not stop anybody who means harm.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ *byte as u64).wrapping_mul(0x0100_0000_01b3))
}

fn seal(record: &Json) -> Vec<u8> {
    let line = record.write();
    format!("{:016x} {line}\n", checksum(line.as_bytes())).into_bytes()
}

fn unseal(line: &[u8]) -> Option<Json> {
    let (sum, record) = line.strip_suffix(b"\n")?.split_at_checked(17)?;
    let sum = u64::from_str_radix(std::str::from_utf8(&sum[..16]).ok()?, 16).ok()?;
    if sum == checksum(record) {
        Json::parse(record).ok()
    } else {
        None
    }
}

fn contains(within: &[u8], sought: &[u8]) -> bool {
    match sought.first() {
        None => true,
        Some(first) => {
            let starts = (0..(within.len() + 1).saturating_sub(sought.len())).filter(|at| within[*at] == *first);
            starts.into_iter().any(|at| within[at..].starts_with(sought))
        }
    }
}

/// Text in which what is no character, also a lone surrogate written as three bytes, is one U+FFFD.
fn shown(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        if let [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..] = rest {
            out.push('\u{fffd}');
            rest = &rest[3..];
            continue;
        }
        let end = rest.windows(2).skip(1).position(|pair| matches!(pair, [0xed, 0xa0..=0xbf])).map_or(rest.len(), |at| at + 1);
        out.push_str(&String::from_utf8_lossy(&rest[..end]));
        rest = &rest[end..];
    }
    out
}

/// With single spaces, to compare what differs in line breaks alone.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line that names what a summary leaves out: the words with a digit in them (numbers with what they count, paths, ids), as
/// many as there is room for. Whoever reads the summary then knows what there is to look up.
fn left_out(given: &[String], said: &str, room: usize) -> String {
    let mut named: Vec<String> = Vec::new();
    let mut length = 0;
    let mut more = 0;
    for message in given {
        let mut words =
            message.split_whitespace().map(|word| word.trim_matches(|end| "\"'“”.,;:()[]{}|=".contains(end))).peekable();
        while let Some(word) = words.next() {
            if !word.contains(|digit: char| digit.is_ascii_digit()) {
                continue;
            }
            let unit = words.peek().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()));
            let word = unit.map_or(word.to_string(), |unit| format!("{word} {unit}"));
            if said.contains(&word) || named.contains(&word) {
                continue;
            }
            length += word.chars().count() + 2;
            if length <= room {
                named.push(word);
            } else {
                more += 1;
            }
        }
    }
    match (named.is_empty(), more) {
        (true, 0) => String::new(),
        (true, _) => format!("[left out: {more} values]\n"),
        (false, 0) => format!("[left out: {}]\n", named.join(", ")),
        (false, _) => format!("[left out: {}, and {more} more]\n", named.join(", ")),
    }
}

/// The value that a text gives a slot, the last where there are several. Two ways of saying it are understood: "The
/// ATTRIBUTE of SUBJECT is VALUE." and "SUBJECT: ATTRIBUTE = VALUE."
fn value(within: &str, subject: &str, attribute: &str) -> Option<String> {
    let stated = format!("he {attribute} of {subject} is ");
    let listed = format!("{subject}: {attribute} = ");
    let stated_at = within.rfind(&stated).map(|at| at + stated.len());
    // What ends as the name does is called something else: the list has to begin with it.
    let apart = |at: usize| within[..at].chars().next_back().map_or(true, char::is_whitespace);
    let listed_at = within.rmatch_indices(&listed).map(|(at, _)| at).find(|at| apart(*at));
    let last = stated_at.max(listed_at.map(|at| at + listed.len()))?;
    let rest = within[last..].lines().next()?;
    // The sentence ends with a full stop that no letter follows.
    let value = rest.find(". ").map_or(rest, |end| &rest[..end]).trim_end_matches('.');
    (!value.is_empty()).then(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_is_shown_as_one_character() {
        assert_eq!(shown(b"a\xed\xa0\x80b\xff\xc3\xa9"), "a\u{fffd}b\u{fffd}é");
    }

    #[test]
    fn a_value_is_what_the_last_sentence_of_the_slot_says() {
        let said = "The log file of job J-1 is /a/b.log. Done.\njob J-1: log file = /c.d.";
        assert_eq!(value(said, "job J-1", "log file").as_deref(), Some("/c.d"));
        assert_eq!(value(said, "job J-2", "log file"), None);
        assert_eq!(value("sea-job J-1: log file = /c.", "job J-1", "log file"), None);
    }

    #[test]
    fn what_a_summary_leaves_out_is_named() {
        let given = ["It took 20 ms in /x1, see (J-88).".to_string()];
        assert_eq!(left_out(&given, "J-88 is slow.", 100), "[left out: 20 ms, /x1]\n");
        assert_eq!(left_out(&given, "", 8), "[left out: 20 ms, and 2 more]\n");
    }

    #[test]
    fn a_journal_line_that_is_not_whole_is_none() {
        let line = seal(&object([("do", text("clear"))]));
        assert!(unseal(&line).is_some());
        assert!(unseal(&line[..line.len() - 1]).is_none());
        assert!(unseal(b"").is_none());
    }
}
