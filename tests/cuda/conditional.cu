// A kernel that decides what a graph does next, by the device runtime's function.

extern "C" __global__ void halve(unsigned *steps, unsigned *number, cudaGraphConditionalHandle again)
{
    // The steps of Collatz' problem, one for each run of a loop's body.
    unsigned n = *number;
    *number = n % 2 ? 3 * n + 1 : n / 2;
    *steps += 1;
    cudaGraphSetConditional(again, *number != 1);
}
