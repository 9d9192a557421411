//! NVIDIA's assembler as the judge of what is PTX, where there is one.

use crate::device::HEADER;
use crate::twin;
use cuda_sys::toolkit::Environment;
use std::process::Command;

/// Assembles a text for the target that it names; `None` where there is no ptxas, and in twins, which would ask again.
pub(crate) fn assemble(text: &str) -> Option<Result<(), String>> {
    if twin::is_one() {
        return None;
    }
    let ptxas = Environment::from_process().tool("ptxas").ok()?;
    let folder =
        std::env::temp_dir().join(format!("conformance-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let (from, to) = (folder.join("k.ptx"), folder.join("k.cubin"));
    std::fs::write(&from, text).expect("a temporary file");
    let target = text.split_whitespace().skip_while(|word| *word != ".target").nth(1).expect("a target");
    let mut command = Command::new(ptxas);
    command.arg(format!("-arch={target}")).arg("-O0").arg(&from).arg("-o").arg(&to);
    let output = command.output().expect("ptxas runs");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    Some(match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    })
}

/// The same for kernels `k`, all at once, since an assembler takes its time to start.
#[track_caller]
pub(crate) fn are_ptx(texts: &[String]) {
    for chunk in texts.chunks(64) {
        let body =
            |(at, text): (usize, &String)| text.replace(HEADER, "").replace(".entry k(", &format!(".entry k{at}("));
        is_ptx(&format!("{HEADER}{}", chunk.iter().enumerate().map(body).collect::<String>()));
    }
}

/// Has ptxas take a text, where there is one.
#[track_caller]
pub(crate) fn is_ptx(text: &str) {
    match assemble(text) {
        None => println!("skipped: no ptxas"),
        Some(Ok(())) => {}
        Some(Err(why)) => panic!("{why}\n{text}"),
    }
}
