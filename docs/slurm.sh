#!/bin/bash
# A batch file for Slurm: `sbatch docs/slurm.sh PROGRAM [ARGUMENT..]` runs a program of examples/mpi with a process for each GPU.
# Build it before: cargo build --release -p cuda-example-mpi --features mpi --bins
#SBATCH --job-name=cuda-mpi
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=8
#SBATCH --time=00:10:00
#SBATCH --output=%x-%j.out
set -eu
program=${1:?the program to run, such as target/release/heat_mpi}
shift
# A process without NCCL ends the job, instead of moving the data by MPI through the hosts.
export CUDA_NCCL_TRANSPORT=${CUDA_NCCL_TRANSPORT:-nccl}
export NCCL_DEBUG=${NCCL_DEBUG:-WARN}
# Open MPI and MPICH both know PMIx; each process takes the GPU of its rank on the machine.
srun --mpi=pmix "$program" "$@"
