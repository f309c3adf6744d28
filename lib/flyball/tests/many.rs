//! Two hundred planes in one process leave nothing behind.
//!
//! The only test of its program, because it counts what belongs to the process.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, Instant};

    use flyball::{Method, Plane, PlaneOptions, Request};
    use tokio::runtime::Handle;
    use tokio::time::interval;

    const PLANES: usize = 200;

    /// How many live at the same time.
    const TOGETHER: usize = 4;

    /// Planes after which everything that is made once has been made.
    const WARM: usize = 40;

    /// How much larger the process may be after all planes than after the first ones: less than a
    /// hundredth of what they held.
    const GROWTH_KB_MAX: u64 = 24 << 10;

    /// What belongs to the process.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Held {
        tasks: usize,
        threads: usize,
        files: usize,
    }

    fn held() -> Held {
        let count = |folder: &str| fs::read_dir(folder).unwrap().count();
        Held {
            tasks: Handle::current().metrics().num_alive_tasks(),
            threads: count("/proc/self/task"),
            files: count("/proc/self/fd"),
        }
    }

    fn resident_kb() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kb = line.unwrap().split_whitespace().nth(1).unwrap();
        kb.parse().unwrap()
    }

    /// Comes back when no more is held than there was; tasks and threads take a moment to end.
    async fn until_at_most(before: Held) {
        let began = Instant::now();
        let mut tick = interval(Duration::from_millis(5));
        loop {
            let now = held();
            let ended = now.tasks <= before.tasks && now.files <= before.files;
            if ended && now.threads <= before.threads {
                return;
            }
            let waited = began.elapsed();
            assert!(
                waited < Duration::from_secs(60),
                "{now:?} is more than {before:?}"
            );
            tick.tick().await;
        }
    }

    /// One life: everything on, every other one with a socket and a folder, and a bit of work.
    async fn live(number: usize, folder: PathBuf) {
        let outward = number % 2 == 1;
        let options = PlaneOptions {
            data: outward.then(|| folder.clone()),
            listen: outward.then(|| ([127, 0, 0, 1], 0).into()),
            ..PlaneOptions::default()
        };
        let plane = Plane::start_with(options).await.unwrap();
        let client = plane.client("test");
        let body = r#"{"metadata":{"name":"one"},"data":{"a":"b"}}"#;
        let path = "/api/v1/namespaces/default/configmaps";
        let request = Request::with(Method::Post, path, body);
        client.send(&request).await.unwrap();
        let _watch = client.watch(&format!("{path}?watch=1")).await.unwrap();
        let mut tick = interval(Duration::from_millis(2));
        while !plane.is_synced() {
            tick.tick().await;
        }
        plane.stop().await;
    }

    async fn live_many(numbers: std::ops::Range<usize>, scratch: &Path) {
        let numbers: Vec<usize> = numbers.collect();
        for some in numbers.chunks(TOGETHER) {
            let mut lives = tokio::task::JoinSet::new();
            for number in some {
                lives.spawn(live(*number, scratch.join(number.to_string())));
            }
            while let Some(lived) = lives.join_next().await {
                lived.unwrap();
            }
            for number in some {
                // Whose folder is still held cannot be opened again: it is not only gone from sight.
                let _ = fs::remove_dir_all(scratch.join(number.to_string()));
            }
        }
    }

    #[tokio::test]
    async fn two_hundred_planes_leave_nothing_behind() {
        let name = format!("flyball-many-{}", std::process::id());
        let scratch = std::env::temp_dir().join(name);
        fs::create_dir_all(&scratch).unwrap();
        let first = held();
        live_many(0..WARM, &scratch).await;
        until_at_most(first).await;
        let warm_kb = resident_kb();
        live_many(WARM..PLANES, &scratch).await;
        until_at_most(first).await;
        let grown_kb = resident_kb().saturating_sub(warm_kb);
        assert!(grown_kb < GROWTH_KB_MAX, "{grown_kb} kB after {warm_kb} kB");
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
        fs::remove_dir_all(&scratch).unwrap();
    }
}
