//! [`Environment`]: rank, number of ranks and the place of rank 0, from the variables of `torchrun`, `srun` and `mpirun`.

use std::net::TcpListener;

use super::{Bootstrap, BootstrapError, store};
use crate::communicator::Options;
use crate::error::{Error, Result};
use crate::library::UniqueId;

/// A start of several processes, as the variables of the environment describe it.
///
/// | | rank | number of ranks | rank on its machine |
/// |---|---|---|---|
/// | torchrun | `RANK` | `WORLD_SIZE` | `LOCAL_RANK` |
/// | Slurm's srun | `SLURM_PROCID` | `SLURM_NTASKS` | `SLURM_LOCALID` |
/// | Open MPI's mpirun | `OMPI_COMM_WORLD_RANK` | `OMPI_COMM_WORLD_SIZE` | `OMPI_COMM_WORLD_LOCAL_RANK` |
///
/// The first line whose rank is set holds. Rank 0 is on the machine `MASTER_ADDR`; without it, with Slurm on the first of the
/// job's machines, else on this one. It listens on the port `CUDA_NCCL_PORT`; without it on `MASTER_PORT`, or the port after
/// that if torchrun's own store has it (`TORCHELASTIC_USE_AGENT_STORE`); without both on 29400, with Slurm on a port that the
/// job's number gives.
///
/// Whoever reaches that port before all ranks have come can take a rank's place, as with torchrun; it belongs in a network of
/// your own.
///
/// # Examples
///
/// ```
/// use cuda_nccl::{Bootstrap, Environment};
///
/// let variables = [("RANK", "2"), ("WORLD_SIZE", "4"), ("MASTER_ADDR", "node1"), ("MASTER_PORT", "29500")];
/// let start = Environment::from_variables(|name| {
///     variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
/// })?;
/// assert_eq!((start.rank(), start.size(), start.local_rank(), start.address()), (2, 4, 2, ("node1", 29500)));
/// # Ok::<(), cuda_nccl::BootstrapError>(())
/// ```
#[derive(Debug)]
pub struct Environment {
    rank: usize,
    size: usize,
    local_rank: Option<usize>,
    host: String,
    port: u16,
}

/// The variables of each launcher: rank, number of ranks, rank on its machine.
const LAUNCHERS: [[&str; 3]; 3] = [
    ["RANK", "WORLD_SIZE", "LOCAL_RANK"],
    ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"],
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"],
];

/// The port without any variable.
const DEFAULT_PORT: u16 = 29_400;

impl Environment {
    /// The start of this process.
    ///
    /// # Examples
    ///
    /// ```
    /// match cuda_nccl::Environment::from_process() {
    ///     Ok(start) => println!("device {}", start.local_rank()),
    ///     Err(error) => println!("{error}"), // the program was started by hand
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Bootstrap`] if variables are missing or not allowed.
    pub fn from_process() -> Result<Environment> {
        Ok(Self::from_variables(|name| std::env::var(name).ok())?)
    }

    /// The start that these variables describe.
    ///
    /// # Errors
    ///
    /// [`BootstrapError`] if variables are missing or not allowed.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Environment, BootstrapError> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let launcher = LAUNCHERS.into_iter().find(|[rank, ..]| variable(rank).is_some());
        let [of_rank, of_size, of_local_rank] = launcher.ok_or(BootstrapError::NoRank)?;
        let rank = number(&variable, of_rank, "a number of at most 31 bits")?.ok_or(BootstrapError::NoRank)?;
        let missing = BootstrapError::Missing { set: of_rank, missing: of_size };
        let size = number(&variable, of_size, "a number of at most 31 bits")?.ok_or(missing)?;
        if rank >= size {
            let value = rank.to_string();
            let allowed = "a rank is less than the number of ranks";
            return Err(BootstrapError::Variable { variable: of_rank, value, allowed });
        }
        let local_rank = number(&variable, of_local_rank, "a number of at most 31 bits")?;
        let slurm = of_rank == "SLURM_PROCID";
        let first =
            || variable("SLURM_STEP_NODELIST").or_else(|| variable("SLURM_JOB_NODELIST")).map(|list| first_node(&list));
        let host =
            variable("MASTER_ADDR").or_else(|| first().filter(|_| slurm)).unwrap_or_else(|| "localhost".to_owned());
        Ok(Environment { rank, size, local_rank, host, port: port(&variable, slurm)? })
    }

    /// The rank of this process on its machine, by which it chooses a device; its rank if no variable tells it.
    #[must_use]
    pub fn local_rank(&self) -> usize {
        self.local_rank.unwrap_or(self.rank)
    }

    /// The machine and the port of rank 0.
    #[must_use]
    pub fn address(&self) -> (&str, u16) {
        (&self.host, self.port)
    }
}

/// The port of rank 0.
fn port(variable: &impl Fn(&str) -> Option<String>, slurm: bool) -> Result<u16, BootstrapError> {
    const ALLOWED: &str = "a port is a number from 1 to 65535";
    let of = |name: &'static str| {
        let found = number(variable, name, ALLOWED)?;
        let port = found.map(|port| u16::try_from(port).ok().filter(|port| *port != 0).ok_or(port));
        port.transpose().map_err(|port| BootstrapError::Variable {
            variable: name,
            value: port.to_string(),
            allowed: ALLOWED,
        })
    };
    if let Some(port) = of("CUDA_NCCL_PORT")? {
        return Ok(port);
    }
    // torchrun's own process listens on the port that it names.
    let taken = variable("TORCHELASTIC_USE_AGENT_STORE").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if let Some(port) = of("MASTER_PORT")? {
        return Ok(if taken { port.checked_add(1).unwrap_or(port - 1) } else { port });
    }
    let job = number(variable, "SLURM_JOB_ID", "a number of at most 31 bits")?.filter(|_| slurm);
    Ok(job.map_or(DEFAULT_PORT, |job| 20_000 + (job % 10_000) as u16))
}

/// The number that a variable holds, of at most 31 bits.
fn number(
    variable: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    allowed: &'static str,
) -> Result<Option<usize>, BootstrapError> {
    let Some(value) = variable(name) else { return Ok(None) };
    match value.trim().parse::<usize>() {
        Ok(number) if i32::try_from(number).is_ok() => Ok(Some(number)),
        _ => Err(BootstrapError::Variable { variable: name, value, allowed }),
    }
}

/// The first machine of Slurm's list, such as `node01` of `node[01-04,7],other`.
fn first_node(list: &str) -> String {
    let name = list.split([',', '[']).next().unwrap_or(list);
    match list[name.len()..].strip_prefix('[') {
        Some(ranges) => {
            let first = ranges.split([',', '-', ']']).next().unwrap_or_default();
            let end = ranges.find(']').map_or("", |end| &ranges[end + 1..]);
            // A suffix after the range, up to the next machine.
            format!("{name}{first}{}", end.split([',', '[']).next().unwrap_or_default())
        }
        None => name.to_owned(),
    }
}

impl Bootstrap for Environment {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn share(&mut self, id: Option<UniqueId>, options: &Options) -> Result<UniqueId> {
        let Environment { rank, size, ref host, port, .. } = *self;
        if rank != 0 {
            return Ok(store::ask(host, port, rank, size, options.limit())?);
        }
        let id = id.ok_or_else(|| Error::invalid("rank 0 has no identifier to share"))?;
        if size > 1 {
            let listener: TcpListener = store::listen(host, port)?;
            store::serve(&listener, size, &id, options.limit())?;
        }
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Environment, BootstrapError> {
        let find =
            |name: &str| variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned());
        Environment::from_variables(find)
    }

    #[test]
    fn torchruns_variables_come_before_slurms() {
        let slurm = [("SLURM_PROCID", "5"), ("SLURM_NTASKS", "8"), ("SLURM_LOCALID", "1")];
        let job = [("SLURM_STEP_NODELIST", "gpu[003-007,9],big1"), ("SLURM_JOB_ID", "4212345")];
        let start = of(&[&slurm[..], &job].concat()).unwrap();
        assert_eq!((start.rank, start.size, start.local_rank(), start.address()), (5, 8, 1, ("gpu003", 22_345)));
        let torch = [("RANK", "1"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "a"), ("MASTER_PORT", "29500")];
        let start = of(&[&slurm[..], &job, &torch].concat()).unwrap();
        assert_eq!((start.rank, start.size, start.local_rank(), start.address()), (1, 2, 1, ("a", 29_500)));
        let start = of(&[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "3")]).unwrap();
        assert_eq!((start.rank, start.size, start.address()), (0, 3, ("localhost", DEFAULT_PORT)));
    }

    #[test]
    fn the_port_of_torchruns_own_store_is_left_to_it() {
        let start = [("RANK", "0"), ("WORLD_SIZE", "2"), ("MASTER_PORT", "29500")];
        let agent = [("TORCHELASTIC_USE_AGENT_STORE", "True")];
        assert_eq!(of(&[&start[..], &agent].concat()).unwrap().port, 29_501);
        assert_eq!(of(&[&start[..], &agent, &[("CUDA_NCCL_PORT", "7")]].concat()).unwrap().port, 7);
    }

    #[test]
    fn the_first_machine_of_slurms_lists_is_found() {
        for (list, first) in [
            ("node1", "node1"),
            ("node1,node2", "node1"),
            ("node[01-04,7],other", "node01"),
            ("node[7]-ib,a", "node7-ib"),
            ("a,node[1-2]", "a"),
        ] {
            assert_eq!(first_node(list), first, "{list}");
        }
    }

    #[test]
    fn variables_that_are_missing_or_not_allowed_are_named() {
        let error = |variables: &[(&str, &str)]| of(variables).unwrap_err().to_string();
        assert!(error(&[("RANK", "")]).starts_with("no variable tells the rank of this process"));
        assert_eq!(
            error(&[("RANK", "1")]),
            "RANK is set and WORLD_SIZE is not; a start of several processes sets both"
        );
        for (variables, expected) in [
            ([("RANK", "x"), ("WORLD_SIZE", "2")], "RANK=x is not allowed"),
            ([("RANK", "2"), ("WORLD_SIZE", "2")], "RANK=2 is not allowed: a rank is less than the number of ranks"),
            ([("RANK", "0"), ("WORLD_SIZE", "-1")], "WORLD_SIZE=-1 is not allowed"),
        ] {
            assert!(error(&variables).starts_with(expected), "{}", error(&variables));
        }
        let port = [("RANK", "0"), ("WORLD_SIZE", "2"), ("MASTER_PORT", "70000")];
        assert_eq!(error(&port), "MASTER_PORT=70000 is not allowed: a port is a number from 1 to 65535");
    }

    #[test]
    fn the_processes_of_a_start_share_the_identifier_of_rank_0() {
        let port = store::listen("localhost", 0).unwrap().local_addr().unwrap().port().to_string();
        let id = UniqueId::from_bytes([3; UniqueId::LEN]);
        std::thread::scope(|scope| {
            let ranks = ["0", "1", "2"].map(|rank| {
                let port = port.clone();
                scope.spawn(move || {
                    let mut start = of(&[("RANK", rank), ("WORLD_SIZE", "3"), ("MASTER_PORT", &port)]).unwrap();
                    start.share((rank == "0").then_some(id), &Options::new()).unwrap()
                })
            });
            assert!(ranks.into_iter().all(|rank| rank.join().unwrap() == id));
        });
    }
}
