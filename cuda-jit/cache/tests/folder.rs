//! Folders in all conditions: full, damaged, read-only, shared by processes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use cuda_jit_cache::{Cache, Key};

const PLENTY: u64 = 1 << 20;

fn key(name: &str) -> Key {
    Key::new(&[name.as_bytes()])
}

fn file(folder: &Path, key: &Key) -> PathBuf {
    folder.join(format!("{key}.kernel"))
}

/// Sets the age of an entry's last use.
fn age(folder: &Path, key: &Key, seconds: u64) {
    let file = fs::File::options().write(true).open(file(folder, key)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

#[test]
fn what_is_put_is_got_by_this_process_and_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("a/b");
    let cache = Cache::new(&inside, PLENTY);
    assert!(cache.put(&key("one"), "label", b"contents"));
    assert!(cache.put(&key("empty"), "", b""));
    assert_eq!(Cache::new(&inside, PLENTY).get(&key("one")).as_deref(), Some(&b"contents"[..]));
    assert_eq!(cache.get(&key("empty")).as_deref(), Some(&b""[..]));
    assert_eq!(cache.get(&key("two")), None);
    assert_eq!(fs::metadata(&inside).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_damaged_file_is_a_miss_and_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, one) = (Cache::new(folder.path(), PLENTY), key("one"));
    assert!(cache.put(&one, "label", b"contents"));
    let whole = fs::read(file(folder.path(), &one)).unwrap();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let damaged = (0..whole.len()).flat_map(|at| [whole[..at].to_vec(), flipped(at)]);
    for bytes in damaged.chain([[&whole[..], b"more"].concat()]) {
        fs::write(file(folder.path(), &one), &bytes).unwrap();
        assert_eq!(cache.get(&one), None);
        assert_eq!(cache.list()[0].label, None);
    }
    assert!(cache.put(&one, "label", b"contents"));
    assert_eq!(cache.get(&one).as_deref(), Some(&b"contents"[..]));
}

#[test]
fn an_entry_under_another_key_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), PLENTY);
    assert!(cache.put(&key("one"), "label", b"contents"));
    fs::copy(file(folder.path(), &key("one")), file(folder.path(), &key("two"))).unwrap();
    assert_eq!(cache.get(&key("two")), None);
    assert!(cache.get(&key("one")).is_some());
}

#[test]
fn a_file_that_is_no_file_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), PLENTY);
    fs::create_dir(file(folder.path(), &key("one"))).unwrap();
    assert_eq!(cache.get(&key("one")), None);
    assert!(!cache.put(&key("one"), "label", b"contents"));
    std::os::unix::fs::symlink("/dev/zero", file(folder.path(), &key("two"))).unwrap();
    assert_eq!(cache.get(&key("two")), None);
    // Opening a named pipe would wait for a writer forever.
    assert!(Command::new("mkfifo").arg(file(folder.path(), &key("three"))).status().unwrap().success());
    assert_eq!(cache.get(&key("three")), None);
}

#[test]
fn a_folder_that_cannot_be_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("file");
    fs::write(&blocked, b"in the way").unwrap();
    for path in [blocked.as_path(), &blocked.join("below"), Path::new("/proc/nothing/here")] {
        let cache = Cache::new(path, PLENTY);
        assert!(!cache.put(&key("one"), "label", b"contents"), "{}", path.display());
        assert_eq!(cache.get(&key("one")), None);
        assert_eq!(cache.list(), []);
        assert_eq!(cache.clear().unwrap(), 0);
    }
}

#[test]
fn the_least_recently_used_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let one = fs::metadata({
        let cache = Cache::new(folder.path(), PLENTY);
        assert!(cache.put(&key("0"), "label", &[7; 1000]));
        file(folder.path(), &key("0"))
    })
    .unwrap()
    .len();
    // Room for eight; the ninth reduces it to seven eighths, which is seven.
    let cache = Cache::new(folder.path(), 8 * one);
    let names = ["0", "1", "2", "3", "4", "5", "6", "7"];
    for (name, seconds) in names.iter().zip((10..).step_by(10).take(8)) {
        assert!(cache.put(&key(name), "label", &[7; 1000]));
        age(folder.path(), &key(name), 200 - seconds);
    }
    assert_eq!(cache.list().len(), 8);
    // The oldest is used, so that the next two are evicted.
    assert!(cache.get(&key("0")).is_some());
    assert!(cache.put(&key("8"), "label", &[7; 1000]));
    let kept = |name: &&str| file(folder.path(), &key(name)).exists();
    assert_eq!(names.iter().filter(|name| kept(name)).collect::<Vec<_>>(), [&"0", &"3", &"4", &"5", &"6", &"7"]);
    assert!(cache.get(&key("8")).is_some());
}

#[test]
fn what_is_larger_than_the_limit_is_not_kept_and_evicts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), 400);
    assert!(cache.put(&key("small"), "label", b"contents"));
    assert!(!cache.put(&key("large"), "label", &[7; 400]));
    assert!(cache.get(&key("small")).is_some());
    assert!(!Cache::new(folder.path(), 0).put(&key("any"), "", b""));
}

#[test]
fn what_others_left_is_evicted_and_cleared_but_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("of-another-version.kernel"), vec![1; 5000]).unwrap();
    fs::write(at("notes.txt"), b"keep me").unwrap();
    fs::write(at(".new-abandoned"), b"half").unwrap();
    fs::write(at(".new-at-work"), b"half").unwrap();
    let old = fs::File::options().write(true).open(at(".new-abandoned")).unwrap();
    old.set_modified(SystemTime::now() - Duration::from_secs(7200)).unwrap();
    let cache = Cache::new(folder.path(), 2000);
    assert!(cache.put(&key("one"), "label", b"contents"));
    assert!(!at("of-another-version.kernel").exists());
    assert!(!at(".new-abandoned").exists());
    assert_eq!(cache.clear().unwrap(), 1);
    assert_eq!(cache.list(), []);
    assert!(at("notes.txt").exists() && at(".new-at-work").exists());
}

#[test]
fn entries_are_listed_from_the_last_used() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), PLENTY);
    for name in ["a", "b", "c"] {
        assert!(cache.put(&key(name), name, b"contents"));
    }
    age(folder.path(), &key("a"), 20);
    age(folder.path(), &key("b"), 10);
    assert!(cache.get(&key("a")).is_some());
    age(folder.path(), &key("c"), 5);
    let labels: Vec<_> = cache.list().into_iter().filter_map(|entry| entry.label).collect();
    assert_eq!(labels, ["a", "c", "b"]);
}

/// Times from before the clock was set back lie in the future.
#[test]
fn a_clock_that_went_back_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), 8 * 1200);
    let ahead = SystemTime::now() + Duration::from_secs(1_000_000);
    for n in 0..6 {
        assert!(cache.put(&key(&n.to_string()), "label", &[7; 1000]));
        let file = fs::File::options().write(true).open(file(folder.path(), &key(&n.to_string()))).unwrap();
        file.set_modified(ahead + Duration::from_secs(n)).unwrap();
    }
    assert_eq!(cache.get(&key("3")).unwrap(), [7; 1000]);
    assert!(cache.list()[5].used <= SystemTime::now(), "it is used now, and so before all others");
    for n in 6..20 {
        assert!(cache.put(&key(&n.to_string()), "label", &[7; 1000]));
        assert!(cache.get(&key(&n.to_string())).is_some(), "the newest stays");
        assert!(cache.list().iter().map(|entry| entry.bytes).sum::<u64>() <= cache.limit());
    }
}

#[test]
fn no_limit_makes_a_damaged_file_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), u64::MAX);
    assert!(cache.put(&key("one"), "label", b"contents"));
    assert_eq!(cache.get(&key("one")).as_deref(), Some(&b"contents"[..]));
    // A sparse file of the maximum length: reading it would need more memory than there is.
    let sparse = fs::File::options().write(true).open(file(folder.path(), &key("one"))).unwrap();
    for length in [1 << 42, 1 << 30, 60] {
        sparse.set_len(length).unwrap();
        assert_eq!(cache.get(&key("one")), None);
        assert_eq!(cache.list()[0].label, None);
    }
    let last = key("last");
    assert!(cache.put(&last, "label", b"more") && cache.get(&last).is_some());
}

/// The environment variable that names the folder in the child processes of tests.
const CHILD: &str = "CUDA_JIT_CACHE_TEST_CHILD";

/// Runs a test of this executable again, in a shell after a preparation; false if the preparation fails.
fn in_shell(prepare: &str, test: &str, folder: &Path) -> bool {
    let mut shell = Command::new("sh");
    // The exit code of a failing test is 101.
    shell.args(["-c", &format!("{prepare} || exit 9; exec \"$0\" \"$@\"")]).arg(std::env::current_exe().unwrap());
    shell.args([test, "--exact"]).env(CHILD, folder);
    finished(test, &mut shell)
}

/// Runs a test of this executable again in a mount namespace, which not every system allows.
fn in_namespace(prepare: &str, test: &str, folder: &Path) -> bool {
    let mut unshare = Command::new("unshare");
    unshare.args(["-Urm", "sh", "-c", &format!("{prepare} || exit 9; exec \"$0\" \"$@\"")]);
    unshare.arg(std::env::current_exe().unwrap()).args([test, "--exact"]).env(CHILD, folder);
    finished(test, &mut unshare)
}

fn finished(test: &str, command: &mut Command) -> bool {
    let Ok(output) = command.output() else { return false };
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => assert!(text.contains("1 passed"), "{test} did not run:\n{text}"),
        Some(101) => panic!("{text}"),
        _ => {
            eprintln!("skipped: {test} ({text})");
            return false;
        }
    }
    true
}

/// Checks that contents that fit are kept, larger ones are not, and no partial file remains.
fn fill(folder: &Path, too_large: usize) {
    let cache = Cache::new(folder, PLENTY);
    assert!(cache.put(&key("small"), "label", b"contents"));
    assert!(!cache.put(&key("large"), "label", &vec![7; too_large]));
    assert_eq!(cache.get(&key("large")), None);
    assert_eq!(cache.get(&key("small")).as_deref(), Some(&b"contents"[..]));
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "what could not be written is removed");
    assert!(cache.put(&key("another"), "label", b"contents"));
}

#[test]
fn a_write_that_breaks_off_keeps_nothing() {
    if let Some(folder) = std::env::var_os(CHILD) {
        return fill(Path::new(&folder), 100_000);
    }
    let folder = tempfile::tempdir().unwrap();
    // Limits files to this number of blocks, of 512 or 1024 bytes.
    assert!(in_shell("trap '' XFSZ; ulimit -f 8", "a_write_that_breaks_off_keeps_nothing", folder.path()));
    assert_eq!(Cache::new(folder.path(), PLENTY).list().len(), 2);
}

#[test]
fn a_full_disk_takes_nothing() {
    if let Some(folder) = std::env::var_os(CHILD) {
        return fill(Path::new(&folder), 100_000);
    }
    let folder = tempfile::tempdir().unwrap();
    let prepare = format!("mount -t tmpfs -o size=64k tmpfs {}", folder.path().display());
    in_namespace(&prepare, "a_full_disk_takes_nothing", folder.path());
}

#[test]
fn a_read_only_folder_gives_and_takes_nothing() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let cache = Cache::new(folder, PLENTY);
        assert_eq!(cache.get(&key("one")).as_deref(), Some(&b"contents"[..]));
        assert!(!cache.put(&key("two"), "label", b"contents"));
        assert_eq!((cache.get(&key("two")), cache.list().len()), (None, 1));
        cache.clear().unwrap_err();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(Cache::new(folder.path(), PLENTY).put(&key("one"), "label", b"contents"));
    let path = folder.path().display();
    let prepare = format!("mount --bind {path} {path} && mount -o remount,ro,bind {path}");
    in_namespace(&prepare, "a_read_only_folder_gives_and_takes_nothing", folder.path());
}

/// Puts and gets in a folder for eight entries, so that entries are evicted all the time.
fn race(folder: &Path, seed: usize) {
    let cache = Cache::new(folder, 8 * 1200);
    let contents = |n: usize| vec![n as u8; 1000];
    for round in 0..300 {
        let n = (round * 7 + seed * 3) % 16;
        let one = key(&n.to_string());
        if let Some(found) = cache.get(&one) {
            assert_eq!(found, contents(n));
        }
        assert!(cache.put(&one, "label", &contents(n)));
    }
}

#[test]
fn processes_and_threads_race() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let folder = Path::new(&folder);
        std::thread::scope(|scope| (0..3).for_each(|seed| drop(scope.spawn(move || race(folder, seed)))));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["processes_and_threads_race", "--exact", "--test-threads=1"]);
        command.env(CHILD, folder.path()).stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let cache = Cache::new(folder.path(), 8 * 1200);
    assert!(cache.put(&key("last"), "label", b""));
    assert!(cache.list().iter().all(|entry| entry.label.is_some()));
    assert!(cache.list().iter().map(|entry| entry.bytes).sum::<u64>() <= cache.limit());
    let unfinished = fs::read_dir(folder.path()).unwrap().flatten();
    assert_eq!(unfinished.filter(|entry| entry.file_name().to_string_lossy().starts_with(".new-")).count(), 0);
}
