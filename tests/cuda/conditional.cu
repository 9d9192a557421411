// A kernel that sets the condition of a graph's conditional node, by the device runtime's function.

extern "C" __global__ void halve(unsigned *steps, unsigned *number, cudaGraphConditionalHandle again)
{
    // The steps of the Collatz sequence, one for each iteration of a loop's body.
    unsigned n = *number;
    *number = n % 2 ? 3 * n + 1 : n / 2;
    *steps += 1;
    cudaGraphSetConditional(again, *number != 1);
}
