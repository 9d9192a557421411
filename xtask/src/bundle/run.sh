#!/bin/sh
# Runs the programs in this folder; `./run` alone lists the commands. Needs only a POSIX shell.

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
cd "$here" || exit 1

# Prints the parts of this machine that the programs use.
info() {
    echo "system   $(uname -srm)"
    echo "libc     $(ldd --version 2>&1 | head -n 1)"
    if command -v nvidia-smi >/dev/null 2>&1; then
        nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader | sed 's/^/gpu      /'
    else
        echo "gpu      no nvidia-smi here"
    fi
    missing=$(ldd bin/vector_add | grep 'not found')
    echo "missing  ${missing:-nothing}"
    ./bin/cuda-bench device
}

# Runs a test executable with its arguments. On the driver that CUDA_DRIVER_PATH names, the tests of each module have a process and
# five minutes of their own, since a fault ends all others of a process, and a kernel without end all of a GPU.
run_tests() {
    case $CUDA_DRIVER_PATH in
        '' | sim) "$@" ;;
        *) by_module "$@" ;;
    esac
}

by_module() {
    program=$1
    shift
    names=$("$program" --list --format=terse "$@" | sed -n 's/: test$//p')
    status=0
    for module in $(echo "$names" | sed 's/[^:]*$//' | sort -u); do
        # shellcheck disable=SC2046 # a name has no spaces
        timeout 300 "$program" --exact $(echo "$names" | grep "^$module[^:]*$") || status=1
    done
    # Tests that are in no module.
    alone=$(echo "$names" | grep -v :)
    # shellcheck disable=SC2086
    [ -z "$alone" ] || timeout 300 "$program" --exact $alone || status=1
    return $status
}

# Runs every test executable; those that need the project's sources are skipped by name.
tests() {
    failed=''
    count=0
    for file in tests/*; do
        name=${file#tests/}
        set -- "$1"
        while read -r owner test; do
            if [ "$owner" = "$name" ]; then
                echo "skipped: $name $test (needs the sources)"
                set -- "$@" --skip "$test"
            fi
        done <tests.need-sources
        echo "==> $name"
        filter=$1
        shift
        count=$((count + 1))
        run_tests "./$file" ${filter:+"$filter"} "$@" || failed="$failed $name"
        set -- "$filter"
    done
    if [ -n "$failed" ]; then
        echo "FAILED:$failed"
        return 1
    fi
    echo "all of $count test executables passed"
}

command=$1
[ $# -gt 0 ] && shift
case $command in
    demo) exec "./bin/${1:-vector_add}" ;;
    test) tests "$1" ;;
    bench)
        [ $# -gt 0 ] || set -- compile sim driver launch mem demo gpu
        exec ./bin/cuda-bench "$@"
        ;;
    info) info ;;
    *)
        cat README.txt
        [ -z "$command" ]
        ;;
esac
