; NVVM IR, as a language's own front end hands it to libNVVM.
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@total = internal addrspace(3) global [64 x i32] undef, align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()

; x[i] = x[i] * x[n - 1 - i] + i, through shared memory.
define void @mirrored(i32 %n, i32 addrspace(1)* %x) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, i32 addrspace(1)* %x, i32 %i
  %own = load i32, i32 addrspace(1)* %at, align 4
  %place = getelementptr [64 x i32], [64 x i32] addrspace(3)* @total, i32 0, i32 %i
  store i32 %own, i32 addrspace(3)* %place, align 4
  call void @llvm.nvvm.barrier0()
  %last = sub i32 %n, 1
  %mirror = sub i32 %last, %i
  %there = getelementptr [64 x i32], [64 x i32] addrspace(3)* @total, i32 0, i32 %mirror
  %other = load i32, i32 addrspace(3)* %there, align 4
  %product = mul i32 %own, %other
  %sum = add i32 %product, %i
  store i32 %sum, i32 addrspace(1)* %at, align 4
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{void (i32, i32 addrspace(1)*)* @mirrored, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
