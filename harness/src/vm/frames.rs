//! The lines that come back from the agent (see `workloads/PROTOCOL.md`). A guest is not trusted:
//! what is damaged, missing or too long is an error, never a guess.

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// The agent is up.
    Hello {
        /// `uname -s`.
        system: String,
        /// `uname -r`.
        release: String,
        /// `uname -m`.
        machine: String,
        /// CPUs online.
        cpus: u32,
    },
    /// A CPU that is online, and where it lies.
    Cpu {
        /// The system's number.
        number: u32,
        /// Its package, die and core as the system numbers them, and its NUMA node; none where the
        /// system does not tell.
        parts: [Option<i64>; 4],
    },
    /// A NUMA node.
    Node {
        /// The system's number.
        number: u32,
        /// Its memory in MiB.
        mib: u64,
        /// To each node, in their order.
        distances: Vec<u8>,
    },
    /// A job starts, at this guest time.
    Begin {
        /// The job's place in the list.
        job: usize,
        /// CLOCK_MONOTONIC in the guest, in nanoseconds.
        ns: u64,
    },
    /// A line that the job printed on its standard output.
    Out {
        /// The job's place in the list.
        job: usize,
        /// The line, unescaped.
        text: String,
    },
    /// A line that the job printed on its standard error.
    Err {
        /// The job's place in the list.
        job: usize,
        /// The line, unescaped.
        text: String,
    },
    /// Lines that were too many to send.
    Drop {
        /// The job's place in the list.
        job: usize,
        /// How many.
        lines: u64,
    },
    /// A job has ended.
    End {
        /// The job's place in the list.
        job: usize,
        /// How.
        how: JobEnd,
        /// CLOCK_MONOTONIC in the guest, in nanoseconds.
        ns: u64,
    },
    /// All jobs have run.
    Bye {
        /// How many.
        jobs: usize,
    },
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    /// It exited with this code.
    Exit(i32),
    /// A signal killed it.
    Signal(i32),
    /// The agent killed it at its deadline.
    Deadline,
}

/// Longer lines are no frames: the agent cuts text at 4 KiB, and escapes quadruple it at most.
const LONGEST: usize = 32 << 10;

/// Puts frames together from bytes as they come.
#[derive(Debug, Default)]
pub struct FrameReader {
    partial: Vec<u8>,
    next: u64,
}

impl FrameReader {
    /// Takes the next bytes and returns the frames they complete.
    ///
    /// # Errors
    /// What is wrong with the first line that is no frame; nothing after it counts.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, String> {
        let mut frames = Vec::new();
        for &byte in bytes {
            if byte != b'\n' {
                if self.partial.len() >= LONGEST {
                    return Err(format!("a frame of over {LONGEST} bytes"));
                }
                self.partial.push(byte);
                continue;
            }
            let line = std::mem::take(&mut self.partial);
            let line = String::from_utf8(line).map_err(|_| "a frame that is no text")?;
            frames.push(parse(&line, self.next)?);
            self.next += 1;
        }
        Ok(frames)
    }
}

fn parse(line: &str, expected: u64) -> Result<Frame, String> {
    let damaged = || format!("a damaged frame: {}", shorten(line));
    let (body, crc) = line.rsplit_once(' ').ok_or_else(damaged)?;
    let crc = u32::from_str_radix(crc, 16).map_err(|_| damaged())?;
    if crc32fast::hash(body.as_bytes()) != crc {
        return Err(damaged());
    }
    let mut fields = body.splitn(4, ' ');
    let mut field = || fields.next().ok_or_else(damaged);
    if field()? != "K1" {
        return Err(damaged());
    }
    let seq: u64 = field()?.parse().map_err(|_| damaged())?;
    if seq != expected {
        return Err(format!("frame {seq} where {expected} was due"));
    }
    let kind = field()?;
    frame(kind, fields.next().unwrap_or("")).ok_or_else(damaged)
}

fn frame(kind: &str, rest: &str) -> Option<Frame> {
    let words: Vec<&str> = rest.split(' ').collect();
    match (kind, words.as_slice()) {
        ("hello", [system, release, machine, cpus]) => Some(Frame::Hello {
            system: unescape(system)?,
            release: unescape(release)?,
            machine: unescape(machine)?,
            cpus: cpus.parse().ok()?,
        }),
        ("cpu", [number, package, die, core, node]) => {
            let parts = [package, die, core, node].map(|text| part(text));
            Some(Frame::Cpu {
                number: number.parse().ok()?,
                parts: [parts[0]?, parts[1]?, parts[2]?, parts[3]?],
            })
        }
        ("node", [number, mib, distances]) => Some(Frame::Node {
            number: number.parse().ok()?,
            mib: mib.parse().ok()?,
            distances: list(distances)?,
        }),
        ("begin", [job, ns]) => Some(Frame::Begin {
            job: job.parse().ok()?,
            ns: ns.parse().ok()?,
        }),
        ("out" | "err", [job, ..]) => {
            let job = job.parse().ok()?;
            let text = unescape(rest.split_once(' ').map_or("", |(_, text)| text))?;
            Some(match kind {
                "out" => Frame::Out { job, text },
                _ => Frame::Err { job, text },
            })
        }
        ("drop", [job, lines]) => Some(Frame::Drop {
            job: job.parse().ok()?,
            lines: lines.parse().ok()?,
        }),
        ("end", [job, how, number, ns]) => Some(Frame::End {
            job: job.parse().ok()?,
            how: job_end(how, number)?,
            ns: ns.parse().ok()?,
        }),
        ("bye", [jobs]) => Some(Frame::Bye {
            jobs: jobs.parse().ok()?,
        }),
        _ => None,
    }
}

/// A number, or `-` for one that the system does not tell.
fn part(text: &str) -> Option<Option<i64>> {
    match text {
        "-" => Some(None),
        text => text.parse().ok().map(Some),
    }
}

/// `10,21,21`.
fn list(text: &str) -> Option<Vec<u8>> {
    text.split(',').map(|number| number.parse().ok()).collect()
}

fn job_end(how: &str, number: &str) -> Option<JobEnd> {
    let number = number.parse().ok()?;
    match how {
        "exit" => Some(JobEnd::Exit(number)),
        "signal" => Some(JobEnd::Signal(number)),
        "deadline" => Some(JobEnd::Deadline),
        _ => None,
    }
}

/// Undoes `\xNN` and `\\`. What the bytes say is data: anything that is no UTF-8 is replaced.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next()? {
            b'\\' => bytes.push(b'\\'),
            // The agent cut the line here.
            b'+' => bytes.extend("…".bytes()),
            b'x' => {
                let digit = |b: u8| char::from(b).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                bytes.push((high * 16 + low) as u8);
            }
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn shorten(line: &str) -> String {
    line.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(seq: u64, rest: &str) -> String {
        let body = format!("K1 {seq} {rest}");
        let crc = crc32fast::hash(body.as_bytes());
        format!("{body} {crc:08x}\n")
    }

    #[test]
    fn the_checksum_is_the_one_of_zlib() {
        // The check value of CRC-32/ISO-HDLC in the catalogue of CRC algorithms.
        assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn frames_come_in_pieces_and_in_order() {
        let text = line(0, "hello Linux 6.1.192 x86_64 2")
            + &line(1, "begin 0 2600000000")
            + &line(2, r"out 0 sample 0 rate 1\x0a\\2")
            + &line(3, "end 0 exit 0 3600000000")
            + &line(4, "bye 1");
        let mut reader = FrameReader::default();
        let frames: Vec<Frame> = text
            .as_bytes()
            .chunks(7)
            .flat_map(|piece| reader.push(piece).unwrap())
            .collect();
        assert_eq!(frames.len(), 5);
        assert_eq!(
            frames[2],
            Frame::Out {
                job: 0,
                text: "sample 0 rate 1\n\\2".into()
            }
        );
        assert_eq!(frames[4], Frame::Bye { jobs: 1 });
    }

    #[test]
    fn what_a_system_does_not_tell_of_a_cpu_is_none() {
        let text = line(0, "cpu 3 1 - 0 1") + &line(1, "node 1 1022 21,10");
        let frames = FrameReader::default().push(text.as_bytes()).unwrap();
        let cpu = Frame::Cpu {
            number: 3,
            parts: [Some(1), None, Some(0), Some(1)],
        };
        let node = Frame::Node {
            number: 1,
            mib: 1022,
            distances: vec![21, 10],
        };
        assert_eq!(frames, [cpu, node]);
        for bad in [
            "cpu 3 1 x 0 1",
            "cpu 3 1 0 1",
            "node 1 1022 21,",
            "node 1 -5 10",
        ] {
            let read = FrameReader::default().push(line(0, bad).as_bytes());
            assert!(read.is_err(), "{bad}");
        }
    }

    #[test]
    fn a_gap_a_changed_digit_and_an_endless_line_are_errors() {
        let gap = FrameReader::default().push(line(1, "bye 1").as_bytes());
        assert!(gap.unwrap_err().contains("frame 1 where 0 was due"));
        let changed = line(0, "out 0 sample 0 rate 100").replace("100", "900");
        assert!(FrameReader::default().push(changed.as_bytes()).is_err());
        let endless = vec![b'a'; LONGEST + 1];
        assert!(FrameReader::default().push(&endless).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = FrameReader::default().push(&bytes);
        }

        #[test]
        fn no_frame_text_makes_it_panic(text in "(hello|cpu|node|begin|out|err|drop|end|bye)[ -~]{0,40}") {
            let _ = FrameReader::default().push(line(0, &text).as_bytes());
        }
    }
}
