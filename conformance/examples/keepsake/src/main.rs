//! Keepsake's adapter for Anchorhold: it speaks version 1 of the wire protocol on standard input and output, and turns
//! what the compactor says into the protocol's words. It repairs nothing.
//!
//! Build it with `cargo build --release`, or without cargo: `rustc --edition 2021 -O -o keepsake src/main.rs`. Then:
//!
//!     anchorhold smoke 'cmd:target/release/keepsake'
//!     anchorhold check 'cmd:target/release/keepsake'
//!
//! Each session gets a folder below the system's one for temporary files, which `close` removes. README.md says more.

mod base64;
mod compactor;
mod json;

use compactor::{Compactor, Content, Fault, Finish, Found, Item, Model, Outcome, Reply, Settings, Trouble, Turn, STEPS};
use json::{number, object, text, texts, Json};
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;

const OPERATIONS: [&str; 18] = [
    "open",
    "append",
    "compact",
    "live",
    "close",
    "clear",
    "pointers",
    "get",
    "search",
    "reconstitute",
    "evict",
    "reopen",
    "resume",
    "status",
    "crash",
    "corrupt",
    "lose_power",
    "fail_store",
];

/// A request that is answered with an error: its code, and a sentence.
struct Refusal(i32, String);

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal(-32002, format!("the store failed: {error}"))
    }
}

impl From<Trouble> for Refusal {
    fn from(trouble: Trouble) -> Refusal {
        match trouble {
            Trouble::Store(error) => error.into(),
            Trouble::Died => Refusal(-32002, "the compactor died, as it was asked to".to_string()),
        }
    }
}

fn wrong(what: &str) -> Refusal {
    Refusal(-32602, what.to_string())
}

/// A line without its line feed; none at the end of the input.
fn read_line() -> Option<Vec<u8>> {
    let mut line = Vec::new();
    io::stdin().lock().by_ref().read_until(b'\n', &mut line).ok().filter(|length| *length > 0)?;
    Some(line)
}

fn write_line(message: &Json) {
    let mut out = io::stdout().lock();
    let written = out.write_all((message.write() + "\n").as_bytes()).and_then(|()| out.flush());
    if written.is_err() {
        std::process::exit(1); // nobody listens any more
    }
}

/// The model of the compactor is the suite.
struct Suite {
    asked: usize,
    request: Json,
}

impl Model for Suite {
    fn summarise(&mut self, messages: &[String]) -> Result<Reply, String> {
        self.asked += 1;
        write_line(&object([
            ("jsonrpc", text("2.0")),
            ("id", text(format!("summary-{}", self.asked))),
            ("method", text("summarise")),
            ("params", object([("messages", texts(messages)), ("request", self.request.clone())])),
        ]));
        // One request at a time: the next line is the answer.
        let answer = read_line().and_then(|line| Json::parse(&line).ok()).unwrap_or(Json::Null);
        let (result, error) = (answer.get("result"), answer.get("error"));
        let Some(said) = result.get("text").as_text() else {
            return Err(error.get("message").as_text().unwrap_or("no answer").to_string());
        };
        let finish = match result.get("finish").as_text() {
            Some("length") => Finish::Length,
            Some("refusal") => Finish::Refusal,
            Some("stop") | None => Finish::Stop,
            Some(_) => Finish::Other,
        };
        Ok(Reply { text: said.to_string(), finish })
    }
}

/// A session that is open: the compactor, or, where it died, what it takes to open it again.
enum Session {
    None,
    Open(Box<Compactor>),
    Dead(PathBuf, Settings),
}

struct Adapter {
    session: Session,
    opened: usize,
    asked: usize,
}

impl Adapter {
    fn answer(&mut self, method: &str, id: &Json, params: &Json) -> Result<Json, Refusal> {
        let none = Json::Null;
        let word = |name: &str| params.get(name).as_text().ok_or_else(|| wrong(&format!("{name} is to be a text")));
        match method {
            "initialize" => {
                if params.get("protocol").as_count() != Some(1) {
                    return Err(wrong("this adapter speaks protocol 1"));
                }
                let description = object([
                    ("name", text("keepsake")),
                    ("version", text(option_env!("CARGO_PKG_VERSION").unwrap_or("0.1.0"))),
                    ("operations", texts(&OPERATIONS)),
                    ("mechanisms", texts(&["summariser"])),
                    ("crash_points", texts(&STEPS)),
                ]);
                return Ok(object([("protocol", number(1)), ("description", description)]));
            }
            "shutdown" => {
                self.close();
                return Ok(none);
            }
            "open" => return self.open(params.get("settings")),
            "resume" => return self.resume(params.get("settings")),
            "close" => {
                self.close();
                return Ok(none);
            }
            "reopen" => {
                let (folder, settings) = match &self.session {
                    Session::Open(compactor) => compactor.place_of_session(),
                    Session::Dead(folder, settings) => (folder.clone(), settings.clone()),
                    Session::None => return Err(Refusal(-32001, "no session is open".to_string())),
                };
                self.session = Session::Dead(folder.clone(), settings.clone());
                self.session = Session::Open(Box::new(Compactor::load(&folder, settings)?));
                return Ok(none);
            }
            _ if !OPERATIONS.contains(&method) => return Err(Refusal(-32601, format!("no operation {method}"))),
            _ => {}
        }
        let Session::Open(compactor) = &mut self.session else {
            return Err(Refusal(-32001, "no compactor is running".to_string()));
        };
        Ok(match method {
            "append" => {
                let turn = turn(params.get("turn"))?;
                let id = turn.id.clone();
                compactor.append(turn)?;
                text(id)
            }
            "compact" => {
                let mut suite = Suite { asked: self.asked, request: id.clone() };
                let done = compactor.compact(&mut suite);
                self.asked = suite.asked;
                if let Err(Trouble::Died) = done {
                    let (folder, settings) = compactor.place_of_session();
                    self.session = Session::Dead(folder, settings);
                }
                outcome(done?)
            }
            "live" => Json::List(compactor.window().into_iter().map(item).collect()),
            "clear" => {
                compactor.clear()?;
                none
            }
            "pointers" => {
                let pointers = compactor.pointers().into_iter();
                Json::List(
                    pointers
                        .map(|pointer| {
                            let covers = texts(&[pointer.turn]);
                            object([("summary", text(pointer.summary)), ("token", text(pointer.token)), ("covers", covers)])
                        })
                        .collect(),
                )
            }
            "get" => found(compactor.get(word("token")?)),
            "search" => found(compactor.search(word("literal")?)),
            "reconstitute" => {
                let evidence = params.get("evidence").as_bool() == Some(true);
                match compactor.reconstitute(word("subject")?, word("attribute")?) {
                    Found::Summary { .. } if evidence => object([("kind", text("insufficient"))]),
                    other => found(other),
                }
            }
            "status" => text(compactor.degraded().map_or("lossless".to_string(), |reason| format!("degraded: {reason}"))),
            "evict" => outcome(compactor.evict(word("token")?)?),
            "crash" => {
                compactor.arm(word("point")?, Fault::Crash);
                none
            }
            "fail_store" => {
                let fault = match word("fault")? {
                    "error" => Fault::Error,
                    "silent" => Fault::Silent,
                    "short" => Fault::Short,
                    "full" => Fault::Full,
                    _ => return Err(wrong("fault is to be error, silent, short or full")),
                };
                compactor.arm(word("point")?, fault);
                none
            }
            "corrupt" => Json::Bool(compactor.corrupt(word("token")?)?),
            "lose_power" => {
                let (folder, settings) = compactor.place_of_session();
                if let Session::Open(compactor) = std::mem::replace(&mut self.session, Session::Dead(folder, settings)) {
                    compactor.lose_power()?;
                }
                none
            }
            _ => return Err(Refusal(-32601, format!("no operation {method}"))),
        })
    }

    fn open(&mut self, given: &Json) -> Result<Json, Refusal> {
        let Json::Object(fields) = given else { return Err(wrong("settings is to be an object")) };
        self.close();
        let settings = settings(given);
        self.opened += 1;
        let folder = std::env::temp_dir().join(format!("keepsake-{}-{}", std::process::id(), self.opened));
        let _ = std::fs::remove_dir_all(&folder); // what a killed process of the same number left
        self.session = Session::Open(Box::new(Compactor::create(&folder, settings)?));
        // Repeat what is honoured; nothing ends by itself here, so `horizon` and `lifetime` are not.
        let honoured = ["session", "user", "branch", "budget", "watermark", "unit"];
        let taken = fields.iter().filter(|(name, _)| honoured.contains(&name.as_str()));
        Ok(Json::Object(taken.cloned().collect()))
    }

    /// Go on with the session of a process that was killed: `close` removes a folder, so the one that is there is its.
    fn resume(&mut self, given: &Json) -> Result<Json, Refusal> {
        let left = std::fs::read_dir(std::env::temp_dir())?.filter_map(Result::ok).map(|entry| entry.path());
        let left: Vec<PathBuf> = left.filter(|path| path.join("journal").exists()).collect();
        let [folder] = left.as_slice() else {
            return Err(Refusal(-32001, format!("there are {} sessions to go on with", left.len())));
        };
        self.session = Session::Open(Box::new(Compactor::load(folder, settings(given))?));
        Ok(Json::Null)
    }

    fn close(&mut self) {
        let folder = match std::mem::replace(&mut self.session, Session::None) {
            Session::Open(compactor) => compactor.place_of_session().0,
            Session::Dead(folder, _) => folder,
            Session::None => return,
        };
        let _ = std::fs::remove_dir_all(folder);
    }

    /// One line of the suite's. Says whether it was the last.
    fn take(&mut self, line: &[u8]) -> bool {
        let (mut id, mut method) = (Json::Null, String::new());
        let result = Json::parse(line).map_err(|error| Refusal(-32700, format!("not JSON: {error}"))).and_then(|request| {
            id = request.get("id").clone();
            method = request.get("method").as_text().unwrap_or_default().to_string();
            let params = match request.get("params") {
                Json::Null => Json::Object(Vec::new()),
                params => params.clone(),
            };
            match params {
                _ if method.is_empty() => Err(Refusal(-32600, "a request is an object with a method".to_string())),
                Json::Object(_) => self.answer(&method, &id, &params),
                _ => Err(wrong("params are given by name")),
            }
        });
        let ended = method == "shutdown" && result.is_ok();
        let (name, value) = match result {
            Ok(result) => ("result", result),
            Err(Refusal(code, message)) => {
                ("error", object([("code", Json::Number(code.to_string())), ("message", text(message))]))
            }
        };
        write_line(&object([("jsonrpc", text("2.0")), ("id", id), (name, value)]));
        ended
    }
}

fn settings(given: &Json) -> Settings {
    Settings {
        budget: given.get("budget").as_count(),
        watermark: given.get("watermark").as_number(),
        items: given.get("unit").as_text() == Some("items"),
    }
}

fn turn(given: &Json) -> Result<Turn, Refusal> {
    let word = |name: &str| given.get(name).as_text().map(str::to_string);
    let mut content = match (word("text"), word("data")) {
        (_, Some(data)) => Content::Bytes(base64::decode(&data).ok_or_else(|| wrong("data is no base64"))?),
        (text, None) => Content::Text(text.unwrap_or_default()),
    };
    // A call belongs to what the turn says: the model has to see it, and it has to come back.
    let mut calls = Vec::new();
    for call in given.get("calls").members() {
        let of = |name: &str| call.get(name).as_text().ok_or_else(|| wrong("a call has id, name and arguments"));
        calls.push(of("id")?.to_string());
        let written = format!("[calls {}] {}", of("name")?, of("arguments")?);
        match &mut content {
            Content::Text(text) if text.is_empty() => *text = written,
            Content::Text(text) => *text = format!("{text}\n{written}"),
            Content::Bytes(bytes) => bytes.extend(format!("\n{written}").bytes()),
        }
    }
    Ok(Turn {
        id: word("id").ok_or_else(|| wrong("a turn has an id"))?,
        speaker: word("speaker").ok_or_else(|| wrong("a turn has a speaker"))?,
        content,
        calls,
        answers: word("result_of"),
        status: word("status"),
        protected: given.get("protected").as_bool() == Some(true),
    })
}

fn content(of: &Content) -> [(&'static str, Json); 2] {
    match of {
        Content::Text(said) => [("text", text(&**said)), ("data", Json::Null)],
        Content::Bytes(bytes) => [("text", Json::Null), ("data", text(base64::encode(bytes)))],
    }
}

fn item(of: Item) -> Json {
    let [said, data] = content(&of.content);
    match of.summary {
        None => {
            let speaker = of.speaker.map_or(Json::Null, text);
            object([("id", text(&*of.id)), ("kind", text("raw")), said, data, ("turn", text(of.id)), ("speaker", speaker)])
        }
        Some((covers, generation)) => {
            let (covers, generation) = (texts(&covers), number(generation));
            object([("id", text(of.id)), ("kind", text("summary")), said, data, ("covers", covers), ("generation", generation)])
        }
    }
}

fn outcome(of: Outcome) -> Json {
    match of {
        Outcome::Committed { summary, covered } => {
            object([("kind", text("committed")), ("summary", summary.map_or(Json::Null, text)), ("covered", texts(&covered))])
        }
        Outcome::Nothing => object([("kind", text("nothing-to-do"))]),
        Outcome::Refused { reason, facts } => {
            object([("kind", text("refused")), ("reason", text(reason)), ("facts", texts(&facts))])
        }
        Outcome::Failed(reason) => object([("kind", text("failed")), ("reason", text(reason))]),
    }
}

fn found(of: Found) -> Json {
    match of {
        Found::Original { content: whole, turn } => {
            let [said, data] = content(&whole);
            object([("kind", text("found")), said, data, ("source", text(turn)), ("evidence", Json::Bool(true))])
        }
        Found::Value { value, content: whole, turn } => {
            let [said, data] = content(&whole);
            let (value, source) = (text(value), text(turn));
            object([("kind", text("found")), said, data, ("value", value), ("source", source), ("evidence", Json::Bool(true))])
        }
        Found::Summary { text: said, value, id } => object([
            ("kind", text("found")),
            ("text", text(said)),
            ("value", value.map_or(Json::Null, text)),
            ("carrier", text(id)),
            ("evidence", Json::Bool(false)),
        ]),
        Found::Damaged(reason) => object([("kind", text("degraded")), ("reason", text(reason))]),
        Found::Evicted => object([("kind", text("tombstoned")), ("reason", text("evicted on request"))]),
        Found::Foreign => object([("kind", text("foreign"))]),
        Found::Nothing => object([("kind", text("unanchored"))]),
    }
}

fn main() {
    let mut adapter = Adapter { session: Session::None, opened: 0, asked: 0 };
    while let Some(line) = read_line() {
        if adapter.take(&line) {
            break;
        }
    }
    adapter.close();
}
