target triple = "nvptx64-nvidia-cuda"
%struct.args = type { i32, float, [2 x i64] }
@tile = internal addrspace(3) global [64 x i32] undef, align 4
@gtab = addrspace(1) global [4 x i64] [i64 9, i64 8, i64 7, i64 6], align 8
@jump = internal addrspace(4) constant [3 x i32] [i32 11, i32 22, i32 33], align 4
define internal i64 @odd(i64 %n) #1 {
  %z = icmp eq i64 %n, 0
  br i1 %z, label %a, label %b
a:
  ret i64 0
b:
  %m = sub i64 %n, 1
  %r = call i64 @even(i64 %m)
  ret i64 %r
}
define internal i64 @even(i64 %n) #1 {
  %z = icmp eq i64 %n, 0
  br i1 %z, label %a, label %b
a:
  ret i64 1
b:
  %m = sub i64 %n, 1
  %r = call i64 @odd(i64 %m)
  ret i64 %r
}
define internal { i64, float } @two(float %x, i64 %y) #1 {
  %a = insertvalue { i64, float } undef, i64 %y, 0
  %s = fmul float %x, 2.0
  %b = insertvalue { i64, float } %a, float %s, 1
  ret { i64, float } %b
}
define ptx_kernel void @mixed(ptr addrspace(1) noalias readonly %in, ptr addrspace(1) %out, ptr byval(%struct.args) align 8 %s, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %tid to i64
  %p = getelementptr i64, ptr addrspace(1) %in, i64 %i
  %v = load i64, ptr addrspace(1) %p, align 8
  %k = getelementptr %struct.args, ptr %s, i64 0, i32 2, i64 1
  %kv = load i64, ptr %k, align 8
  %e = call i64 @even(i64 %v)
  %fp = getelementptr %struct.args, ptr %s, i64 0, i32 1
  %f = load float, ptr %fp, align 4
  %t = call { i64, float } @two(float %f, i64 %kv)
  %t0 = extractvalue { i64, float } %t, 0
  %t1 = extractvalue { i64, float } %t, 1
  %ti = fptoui float %t1 to i64
  %sh = getelementptr [64 x i32], ptr addrspace(3) @tile, i64 0, i64 %i
  store i32 %tid, ptr addrspace(3) %sh, align 4
  %sv = load volatile i32, ptr addrspace(3) %sh, align 4
  %old = cmpxchg ptr addrspace(1) @gtab, i64 9, i64 10 acq_rel monotonic
  %am = atomicrmw add ptr addrspace(1) getelementptr ([4 x i64], ptr addrspace(1) @gtab, i64 0, i64 1), i64 1 seq_cst
  fence syncscope("device") seq_cst
  switch i32 %tid, label %d [ i32 0, label %c0 i32 1, label %c1 i32 2, label %c2 i32 3, label %c3 i32 4, label %c4 i32 5, label %c5 ]
c0: 
  br label %j
c1: 
  %x1 = mul i64 %v, 3
  br label %j
c2:
  %x2 = xor i64 %v, 77
  br label %j
c3:
  %x3 = call i64 @llvm.ctpop.i64(i64 %v)
  br label %j
c4:
  %x4 = call i64 @llvm.fshl.i64(i64 %v, i64 %t0, i64 13)
  br label %j
c5:
  %x5 = call i64 @llvm.bitreverse.i64(i64 %v)
  br label %j
d:
  br label %j
j:
  %x = phi i64 [ 5, %c0 ], [ %x1, %c1 ], [ %x2, %c2 ], [ %x3, %c3 ], [ %x4, %c4 ], [ %x5, %c5 ], [ %e, %d ]
  %h = uitofp i64 %v to half
  %h2 = fadd half %h, 0xH3C00
  %hi = fptoui half %h2 to i64
  %y0 = add i64 %x, %ti
  %y1 = add i64 %y0, %t0
  %y2 = add i64 %y1, %hi
  %sz = zext i32 %sv to i64
  %y3 = add i64 %y2, %sz
  %ji = urem i32 %tid, 3
  %jz = zext i32 %ji to i64
  %jp = getelementptr [3 x i32], ptr addrspace(4) @jump, i64 0, i64 %jz
  %jv = load i32, ptr addrspace(4) %jp
  %jw = sext i32 %jv to i64
  %y4 = add i64 %y3, %jw
  %w = sext i64 %y4 to i128
  %w2 = mul i128 %w, %w
  %w3 = sdiv i128 %w2, 7
  %w4 = trunc i128 %w3 to i64
  %q = getelementptr i64, ptr addrspace(1) %out, i64 %i
  store i64 %w4, ptr addrspace(1) %q, align 8
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.fshl.i64(i64, i64, i64)
declare i64 @llvm.bitreverse.i64(i64)
attributes #1 = { noinline }
