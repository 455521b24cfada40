//! The marks that a guest makes on the port `ktrial.marks` where its iterations begin and end
//! (`workloads/PROTOCOL.md`). Each is answered once this machine's counters are read, and the guest
//! waits for that, so that nothing but the iteration lies between two readings.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

/// What was read between the marks of one guest.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Marked<I> {
    /// By job: the iterations that ended, in their order.
    pub jobs: BTreeMap<usize, Vec<I>>,
    /// Why no mark was answered from some point on, where that was not the guest's end.
    pub broken: Option<String>,
}

/// Iterations in one boot. A guest that claims more is making them up.
const MOST: usize = 100_000;
/// Digits of a job's number, of which there are no more than 4,096.
const DIGITS: usize = 4;

/// Answers a guest that has `jobs` until it ends or says what is no mark. `read` reads the counters,
/// and `between` is what lies between two readings, the earlier one first.
pub(super) fn answer<R, I>(
    stream: &UnixStream,
    jobs: usize,
    read: impl FnMut() -> R,
    between: impl Fn(&R, &R) -> I,
) -> Marked<I> {
    let mut marks = Marks {
        jobs,
        read,
        between,
        job: None,
        begun: None,
        count: 0,
        marked: BTreeMap::new(),
    };
    let broken = marks.follow(stream).err();
    // Nobody listens from now on, and the guest need not wait to find out.
    let _ = stream.shutdown(Shutdown::Both);
    Marked {
        jobs: marks.marked,
        broken,
    }
}

struct Marks<R, I, Read, Between> {
    jobs: usize,
    read: Read,
    between: Between,
    job: Option<usize>,
    begun: Option<R>,
    count: usize,
    marked: BTreeMap<usize, Vec<I>>,
}

impl<R, I, Now: FnMut() -> R, Between: Fn(&R, &R) -> I> Marks<R, I, Now, Between> {
    fn follow(&mut self, stream: &UnixStream) -> Result<(), String> {
        let mut bytes = BufReader::new(stream).bytes();
        // An end is QEMU's; an error is one that took it away.
        while let Some(Ok(letter)) = bytes.next() {
            match letter {
                b'j' => self.begin_job(number(&mut bytes)?)?,
                b'b' => self.begin()?,
                b'e' => self.end()?,
                other => return Err(format!("the guest sent {:?}", char::from(other))),
            }
            let mut answers = stream;
            if answers.write_all(&[letter]).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// An iteration that had begun died with its job.
    fn begin_job(&mut self, job: usize) -> Result<(), String> {
        if job >= self.jobs || self.marked.contains_key(&job) {
            return Err(format!("the guest began job {job}, which is not due"));
        }
        self.job = Some(job);
        self.begun = None;
        self.marked.insert(job, Vec::new());
        Ok(())
    }

    fn begin(&mut self) -> Result<(), String> {
        if self.job.is_none() || self.begun.is_some() {
            return Err("the guest began an iteration that was not due".into());
        }
        self.begun = Some((self.read)());
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let now = (self.read)();
        let begun = self.begun.take();
        let intervals = self.job.and_then(|job| self.marked.get_mut(&job));
        let (Some(begun), Some(intervals)) = (begun, intervals) else {
            return Err("the guest ended an iteration that never began".into());
        };
        if self.count == MOST {
            return Err(format!("the guest claims over {MOST} iterations"));
        }
        self.count += 1;
        intervals.push((self.between)(&begun, &now));
        Ok(())
    }
}

/// The number up to the end of the line.
fn number(bytes: &mut impl Iterator<Item = std::io::Result<u8>>) -> Result<usize, String> {
    let line = bytes.map_while(Result::ok).take(DIGITS + 1);
    let digits: Vec<u8> = line.take_while(|byte| *byte != b'\n').collect();
    let text = String::from_utf8_lossy(&digits);
    let plain = digits.len() <= DIGITS && digits.iter().all(u8::is_ascii_digit);
    let number = text.parse().ok().filter(|_| plain);
    number.ok_or_else(|| format!("the guest began a job called {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::thread;

    /// What a guest that sends `said` at once is answered, and what is made of it. Each reading is
    /// how many there were before.
    fn hear(said: &[u8], jobs: usize) -> (Vec<u8>, Marked<(u32, u32)>) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(said).unwrap();
        theirs.shutdown(Shutdown::Write).unwrap();
        let mut readings = 0..;
        let read = || readings.next().unwrap();
        let marked = answer(&ours, jobs, read, |begun, ended| (*begun, *ended));
        drop(ours);
        let mut answers = Vec::new();
        // A reset tells a guest that more was sent than anyone read.
        let _ = theirs.read_to_end(&mut answers);
        (answers, marked)
    }

    #[test]
    fn iterations_are_told_apart_by_job_and_each_mark_is_answered_by_its_letter() {
        let (answers, marked) = hear(b"j0\nbebej2\nbe", 3);
        assert_eq!(answers, b"jbebejbe");
        let jobs = [(0, vec![(0, 1), (2, 3)]), (2, vec![(4, 5)])].into();
        assert_eq!(marked, Marked { jobs, broken: None });
    }

    #[test]
    fn an_iteration_that_died_with_its_job_counts_for_nothing() {
        let (_, marked) = hear(b"j0\nbebj1\nbe", 2);
        let jobs = [(0, vec![(0, 1)]), (1, vec![(3, 4)])].into();
        assert_eq!(marked, Marked { jobs, broken: None });
    }

    #[test]
    fn a_guest_waits_until_the_counters_are_read_and_no_longer() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (allow, allowed) = std::sync::mpsc::channel();
        let reader = thread::spawn(move || {
            let read = || allowed.recv().unwrap();
            answer(&ours, 1, read, |begun: &u32, ended| ended - begun)
        });
        let mut byte = [0];
        theirs.write_all(b"j0\nb").unwrap();
        theirs.read_exact(&mut byte).unwrap();
        assert_eq!(byte, *b"j");
        theirs.set_nonblocking(true).unwrap();
        thread::sleep(std::time::Duration::from_millis(30));
        let early = theirs.read(&mut byte).unwrap_err();
        assert_eq!(early.kind(), std::io::ErrorKind::WouldBlock);
        theirs.set_nonblocking(false).unwrap();
        allow.send(40).unwrap();
        theirs.read_exact(&mut byte).unwrap();
        assert_eq!(byte, *b"b");
        allow.send(42).unwrap();
        theirs.write_all(b"e").unwrap();
        theirs.read_exact(&mut byte).unwrap();
        drop(theirs);
        let marked = reader.join().unwrap();
        assert_eq!(marked.jobs[&0], [2]);
        assert_eq!(marked.broken, None);
    }

    #[test]
    fn what_no_workload_sends_ends_the_conversation_and_keeps_what_was_there() {
        for said in [
            "b", "e", "x", "j0\ne", "j0\nbb", "j2\n", "j0\nj0\n", "j\n", "j-1\n", "j00000\n", "j1",
            "j+1\n", "j0\nbeQ",
        ] {
            let (_, marked) = hear(said.as_bytes(), 2);
            // A number that was cut at the end is still a number.
            assert_eq!(marked.broken.is_some(), said != "j1", "{said:?}");
        }
        let (_, marked) = hear(b"j0\nbebb", 1);
        assert_eq!(marked.jobs[&0], [(0, 1)]);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(said in proptest::collection::vec(
            prop_oneof![Just(b'j'), Just(b'b'), Just(b'e'), Just(b'\n'), Just(b'0'), any::<u8>()],
            0..40,
        )) {
            let _ = hear(&said, 3);
        }
    }
}
