//! NVIDIA's assembler as a check of what is valid PTX, if it is installed.

use crate::counterpart;
use crate::device::HEADER;
use cuda_sys::toolkit::Environment;
use std::process::Command;

/// Assembles a text for its target; `None` without ptxas, and in counterpart processes, which would repeat it.
pub(crate) fn assemble(text: &str) -> Option<Result<(), String>> {
    if counterpart::is_one() {
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

/// Assembles several kernels `k` at once, since the assembler takes long to start.
#[track_caller]
pub(crate) fn are_ptx(texts: &[String]) {
    for chunk in texts.chunks(64) {
        let body =
            |(at, text): (usize, &String)| text.replace(HEADER, "").replace(".entry k(", &format!(".entry k{at}("));
        is_ptx(&format!("{HEADER}{}", chunk.iter().enumerate().map(body).collect::<String>()));
    }
}

/// Asserts that ptxas accepts a text, if it is installed.
#[track_caller]
pub(crate) fn is_ptx(text: &str) {
    match assemble(text) {
        None => println!("skipped: no ptxas"),
        Some(Ok(())) => {}
        Some(Err(why)) => panic!("{why}\n{text}"),
    }
}
