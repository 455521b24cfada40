//! The job list that the agent finds in the guest (see `workloads/PROTOCOL.md`).

use std::fmt::Write;

use super::Perturbation;
use crate::workload::Job;

/// The list as text. Job ids are the positions in `jobs`.
pub(crate) fn list(jobs: &[Job], perturbation: &Perturbation) -> String {
    let mut text = format!(
        "ktrial-jobs 1\nseed {}\n",
        hex::encode(perturbation.entropy)
    );
    for (id, job) in jobs.iter().enumerate() {
        let _ = write!(text, "job {id} {} {}", job.deadline_ms, job.program);
        for argument in &job.arguments {
            let _ = write!(text, " {argument}");
        }
        text.push('\n');
    }
    text.push_str("end\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_what_the_protocol_says() {
        let job = Job {
            program: "/bin/exec".into(),
            arguments: vec!["-n".into(), "2".into()],
            deadline_ms: 60_000,
        };
        let text = list(&[job.clone(), job], &Perturbation::of(1));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "ktrial-jobs 1");
        assert_eq!(lines[1].len(), "seed ".len() + 64);
        assert_eq!(lines[2], "job 0 60000 /bin/exec -n 2");
        assert_eq!(lines[3], "job 1 60000 /bin/exec -n 2");
        assert_eq!(lines[4], "end");
        assert_eq!(lines.len(), 5);
    }
}
