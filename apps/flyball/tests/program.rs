//! The program as a person starts it: what it prints, how it ends, and what it refuses.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead as _, BufReader};
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, ExitStatus, Output, Stdio};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::{Duration, Instant};

    /// Longer than anything here takes, also on a busy machine.
    const PATIENCE: Duration = Duration::from_secs(60);

    fn flyball(words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flyball"));
        command.args(words);
        command
    }

    /// Runs the program to its end.
    fn output(words: &[&str]) -> Output {
        flyball(words).stdin(Stdio::null()).output().unwrap()
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// A folder of this test that is gone when the test is over.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let name = format!("flyball-program-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        fn path(&self, name: &str) -> String {
            self.0.join(name).to_str().unwrap().to_owned()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// `flyball up` as it runs; killed if the test ends before it.
    struct Up {
        child: Child,
        lines: Receiver<String>,
        told: Vec<String>,
    }

    impl Up {
        fn start(words: &[&str]) -> Self {
            let mut child = flyball(&["up", "--listen", "127.0.0.1:0"])
                .args(words)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let stdout = BufReader::new(child.stdout.take().unwrap());
            let (sender, lines) = channel();
            std::thread::spawn(move || {
                for line in stdout.lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
            Self {
                child,
                lines,
                told: Vec::new(),
            }
        }

        /// Comes back when a line with this text has been printed; gives it back.
        fn until(&mut self, part: &str) -> String {
            loop {
                let line = self.lines.recv_timeout(PATIENCE);
                let line = line.unwrap_or_else(|_| panic!("no {part:?} in {:#?}", self.told));
                self.told.push(line.clone());
                if line.contains(part) {
                    return line;
                }
            }
        }

        fn signal(&self, name: &str) {
            let kill = format!("kill -{name} {}", self.child.id());
            let sent = Command::new("sh").args(["-c", &kill]).status().unwrap();
            assert!(sent.success());
        }

        fn ended(&mut self) -> ExitStatus {
            let until = Instant::now() + PATIENCE;
            loop {
                if let Some(status) = self.child.try_wait().unwrap() {
                    return status;
                }
                assert!(Instant::now() < until, "it does not end");
                std::thread::yield_now();
            }
        }
    }

    impl Drop for Up {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    #[test]
    fn up_tells_what_starts_and_what_to_type_next_and_stops_when_asked() {
        for signal in ["INT", "TERM"] {
            let scratch = Scratch::new(signal);
            let (data, kubeconfig) = (scratch.path("data"), scratch.path("k/config"));
            let mut up = Up::start(&["--data-dir", &data, "--kubeconfig", &kubeconfig]);
            let line = up.until("API server on https://127.0.0.1:");
            assert!(line.ends_with(&format!("state in {data}")), "{line}");
            up.until(" s  controllers: ");
            up.until(" s  scheduler");
            up.until(" s  simulated nodes: 3");
            up.until("everything is ready");
            up.until(&format!("export KUBECONFIG={kubeconfig}"));
            up.until("Ctrl-C stops it.");
            assert!(Path::new(&kubeconfig).exists());
            up.signal(signal);
            assert_eq!(up.ended().code(), Some(0));
        }
    }

    #[test]
    fn a_folder_is_continued_and_belongs_to_one_program_at_a_time() {
        let scratch = Scratch::new("folder");
        let data = scratch.path("data");
        let mut first = Up::start(&["--data-dir", &data]);
        first.until("Ctrl-C stops it.");
        let second = output(&["up", "--listen", "127.0.0.1:0", "--data-dir", &data]);
        assert_eq!(second.status.code(), Some(1));
        let refused = text(&second.stderr);
        let holder = format!("is in use by another process (pid {})", first.child.id());
        assert!(refused.contains(&holder), "{refused}");
        first.signal("TERM");
        first.ended();
        let mut third = Up::start(&["--data-dir", &data]);
        let line = third.until("API server on");
        assert!(
            line.ends_with(&format!("state in {data}, continued")),
            "{line}"
        );
        third.until("Ctrl-C stops it.");
    }

    #[test]
    fn up_runs_the_controllers_that_were_chosen_and_leaves_no_file_behind() {
        let mut up = Up::start(&["--ephemeral", "--nodes=0", "--controllers=replicaset"]);
        let line = up.until(" s  controllers: ");
        assert!(
            line.ends_with("controllers: replicaset-controller"),
            "{line}"
        );
        up.until(" s  simulated nodes: 0");
        let line = up.until("export KUBECONFIG=");
        let kubeconfig = line.split_once('=').unwrap().1.to_owned();
        up.until("Ctrl-C stops it.");
        assert!(Path::new(&kubeconfig).exists());
        up.signal("INT");
        assert_eq!(up.ended().code(), Some(0));
        assert!(!Path::new(&kubeconfig).exists());
    }

    #[test]
    fn the_kubeconfig_of_an_ephemeral_plane_is_in_a_folder_of_its_own() {
        use std::os::unix::fs::PermissionsExt as _;
        let mut up = Up::start(&["--ephemeral", "--nodes=0"]);
        let line = up.until("export KUBECONFIG=");
        let kubeconfig = PathBuf::from(line.split_once('=').unwrap().1);
        up.until("Ctrl-C stops it.");
        let folder = kubeconfig.parent().unwrap().to_owned();
        assert_ne!(folder, std::env::temp_dir());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&kubeconfig)), (0o700, 0o600));
        up.signal("INT");
        assert_eq!(up.ended().code(), Some(0));
        assert!(!folder.exists());
    }

    #[test]
    fn a_log_that_was_cut_off_is_reported_at_the_start() {
        let scratch = Scratch::new("cut");
        let data = scratch.path("data");
        let mut up = Up::start(&["--data-dir", &data, "--nodes=0"]);
        up.until("Ctrl-C stops it.");
        up.signal("TERM");
        up.ended();
        let logs = fs::read_dir(scratch.path("data/store")).unwrap();
        let mut logs = logs.map(|entry| entry.unwrap().path());
        let is_log = |path: &PathBuf| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("log-")
        };
        let log = logs.find(is_log).unwrap();
        let length = fs::metadata(&log).unwrap().len();
        let file = fs::File::options().write(true).open(&log).unwrap();
        file.set_len(length - 3).unwrap();
        let mut up = Up::start(&["--data-dir", &data, "--nodes=0"]);
        let line = up.until("was cut off at byte ");
        assert!(line.contains(log.to_str().unwrap()), "{line}");
        assert!(line.contains("the last revision is "), "{line}");
        up.until("Ctrl-C stops it.");
    }

    #[test]
    fn an_address_beyond_this_machine_is_warned_of() {
        let mut child = flyball(&["up", "--ephemeral", "--listen", "0.0.0.0:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        stderr.read_line(&mut line).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(line.contains("listening beyond this machine"), "{line}");
    }

    #[test]
    fn what_cannot_be_done_is_told_with_the_way_out() {
        let scratch = Scratch::new("refused");
        let file = scratch.path("a-file");
        fs::write(&file, "precious").unwrap();
        let below = format!("{file}/data");
        let foreign = scratch.path("foreign");
        fs::create_dir_all(format!("{foreign}/store")).unwrap();
        fs::write(format!("{foreign}/store/thesis.txt"), "precious").unwrap();
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = taken.local_addr().unwrap().to_string();
        let anywhere = ["--listen", "127.0.0.1:0"];
        for (words, parts) in [
            (
                ["--data-dir", &below, anywhere[0], anywhere[1]],
                [
                    below.as_str(),
                    "choose another with --data-dir, or use --ephemeral",
                ],
            ),
            (
                ["--data-dir", &foreign, anywhere[0], anywhere[1]],
                ["thesis.txt", "choose an empty one"],
            ),
            (
                ["--ephemeral", "--nodes=60000", anywhere[0], anywhere[1]],
                ["60000 nodes are more than 50000", "--nodes"],
            ),
            (
                ["--ephemeral", "--nodes=1", "--listen", "192.0.2.1:6443"],
                [
                    "cannot listen on 192.0.2.1:6443",
                    "an address of this machine",
                ],
            ),
            (
                ["--ephemeral", "--nodes=1", "--listen", &taken],
                [taken.as_str(), "another program uses it"],
            ),
            (
                [
                    "--ephemeral",
                    &format!("--kubeconfig={file}"),
                    anywhere[0],
                    anywhere[1],
                ],
                [file.as_str(), "was not written by flyball"],
            ),
        ] {
            let refused = output(&[&["up"], words.as_slice()].concat());
            assert_eq!(refused.status.code(), Some(1), "{words:?}");
            let told = text(&refused.stderr);
            for part in parts {
                assert!(told.contains(part), "{words:?}: {told}");
            }
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    }

    #[test]
    fn the_tour_comes_to_its_end_and_is_plain_text_where_no_terminal_is() {
        let told = output(&["demo", "--speed", "fast"]);
        let (out, errors) = (text(&told.stdout), text(&told.stderr));
        assert_eq!(told.status.code(), Some(0), "{out}{errors}");
        assert_eq!(errors, "", "no log in the middle of the tour");
        assert!(!out.contains('\x1b'));
        for part in [
            "1. A Deployment of three",
            "you create Deployment web: 3 pods of shop:v1",
            "deployment-controller creates ReplicaSet web-",
            "because too few pods: desired 3, active 0",
            "2. A pod dies",
            "3. A rolling update",
            "because too many pods: desired ",
            "4. Everything goes",
            "garbage-collector-controller lets Deployment web go",
            "Nothing is left behind.",
        ] {
            assert!(out.contains(part), "no {part:?} in {out}");
        }
        assert_eq!(out.matches("as desired after ").count(), 4, "{out}");
    }

    #[test]
    fn a_reader_who_has_seen_enough_breaks_nothing() {
        let mut child = flyball(&["demo", "--speed", "fast"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
        assert_eq!(text(&ended.stderr), "");
    }
}
