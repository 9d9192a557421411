//! Gathers and scatters whose addresses turn out to be consecutive: generated code compares the addresses and makes one
//! plain masked access of them where it can.
//!
//! LLVM's vectoriser makes gathers and scatters of accesses whose stride it does not know, such as those of a view whose
//! strides are parameters. Most such strides are 1 when the kernel runs, and an access to consecutive addresses takes a
//! cycle where a gather of eight elements takes more than twenty.
//!
//! An access without active threads stays a gather: on some CPUs a masked access to an inaccessible page takes hundreds
//! of cycles even if its mask is empty.

use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::module::Module;
use std::fmt::Write;

/// The passes that insert the functions which replace gathers and scatters, and simplify what they become.
pub(super) const PASSES: &str =
    "always-inline,function(sroa<modify-cfg>,early-cse,instcombine<no-verify-fixpoint>,simplifycfg),globaldce";

/// A gather or scatter of LLVM's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// The name of LLVM's function.
    pub(super) name: String,
    pub(super) loads: bool,
    pub(super) lanes: u32,
    /// The type of an element, and its size.
    pub(super) element: &'static str,
    pub(super) bytes: u32,
}

impl Access {
    /// Returns the access that a function of this name makes, if it is a gather or a scatter of common elements.
    pub(super) fn of(name: &str) -> Option<Access> {
        let (kind, rest) = name.strip_prefix("llvm.masked.")?.split_once(".v")?;
        let loads = match kind {
            "gather" => true,
            "scatter" => false,
            _ => return None,
        };
        let (vector, pointers) = rest.split_once('.')?;
        let digits = vector.find(|c: char| !c.is_ascii_digit())?;
        let lanes: u32 = vector[..digits].parse().ok()?;
        let (element, bytes) = match &vector[digits..] {
            "i8" => ("i8", 1),
            "i16" => ("i16", 2),
            "i32" => ("i32", 4),
            "i64" => ("i64", 8),
            "f32" => ("float", 4),
            "f64" => ("double", 8),
            _ => return None,
        };
        let known = pointers == format!("v{lanes}p0");
        known.then(|| Access { name: name.to_owned(), loads, lanes, element, bytes })
    }

    /// The name of the function that replaces it.
    fn replacement(&self) -> String {
        self.name.replacen("llvm.masked", "sim.consecutive", 1)
    }

    /// The suffix of the name of LLVM's masked load or store of the same vector.
    fn vector(&self) -> &str {
        self.name.split('.').nth(3).unwrap_or("")
    }

    /// The declaration of LLVM's function.
    pub(super) fn declaration(&self) -> String {
        let Access { name, lanes, element, .. } = self;
        let (value, pointers, mask) =
            (format!("<{lanes} x {element}>"), format!("<{lanes} x ptr>"), format!("<{lanes} x i1>"));
        match self.loads {
            true => format!("declare {value} @{name}({pointers}, {mask}, {value})\n"),
            false => format!("declare void @{name}({value}, {pointers}, {mask})\n"),
        }
    }

    /// The function in LLVM IR that replaces it.
    fn text(&self) -> String {
        let Access { name, lanes, element, bytes, .. } = self;
        let (value, pointers, mask, words) = (
            format!("<{lanes} x {element}>"),
            format!("<{lanes} x ptr>"),
            format!("<{lanes} x i1>"),
            format!("<{lanes} x i64>"),
        );
        let steps: Vec<String> = (0..*lanes).map(|lane| format!("i64 {}", lane * bytes)).collect();
        let check = format!(
            "  %at = ptrtoint {pointers} %p to {words}\n  %first = extractelement {words} %at, i64 0\n  \
             %one = insertelement {words} poison, i64 %first, i64 0\n  \
             %all = shufflevector {words} %one, {words} poison, <{lanes} x i32> zeroinitializer\n  \
             %expected = add {words} %all, <{steps}>\n  %other = icmp ne {words} %at, %expected\n  \
             %apart = and {mask} %other, %m\n  %apart.bits = bitcast {mask} %apart to i{lanes}\n  \
             %active.bits = bitcast {mask} %m to i{lanes}\n  %some = icmp ne i{lanes} %active.bits, 0\n  \
             %together = icmp eq i{lanes} %apart.bits, 0\n  %dense = and i1 %some, %together\n  \
             %start = extractelement {pointers} %p, i64 0\n  br i1 %dense, label %yes, label %no\n",
            steps = steps.join(", "),
        );
        let (new, vector) = (self.replacement(), self.vector());
        if self.loads {
            format!(
                "declare {value} @llvm.masked.load.{vector}.p0(ptr, {mask}, {value})\n\
                 define linkonce_odr hidden {value} @{new}({pointers} %p, {mask} %m, {value} %v) alwaysinline nounwind \
                 null_pointer_is_valid {{\n{check}yes:\n  \
                 %y = call {value} @llvm.masked.load.{vector}.p0(ptr align 1 %start, {mask} %m, {value} %v)\n  ret {value} %y\n\
                 no:\n  %n = call {value} @{name}({pointers} align 1 %p, {mask} %m, {value} %v)\n  ret {value} %n\n}}\n"
            )
        } else {
            format!(
                "declare void @llvm.masked.store.{vector}.p0({value}, ptr, {mask})\n\
                 define linkonce_odr hidden void @{new}({value} %v, {pointers} %p, {mask} %m) alwaysinline nounwind \
                 null_pointer_is_valid {{\n{check}yes:\n  \
                 call void @llvm.masked.store.{vector}.p0({value} %v, ptr align 1 %start, {mask} %m)\n  ret void\n\
                 no:\n  call void @{name}({value} %v, {pointers} align 1 %p, {mask} %m)\n  ret void\n}}\n"
            )
        }
    }
}

/// Replaces the gathers and scatters of a module by functions that check their addresses, and links the `others` that it
/// calls. Returns false if there are none; otherwise [`PASSES`] have to run.
pub(super) fn check_addresses<'c>(context: &'c Context, module: &Module<'c>, others: &str) -> Result<bool, String> {
    let mut text = String::new();
    for function in module.get_functions() {
        let name = function.get_name().to_string_lossy();
        // Before LLVM 22 the alignment is an argument of its own.
        let Some(access) = Access::of(&name).filter(|_| function.count_params() == 3) else { continue };
        let replacement = module.add_function(&access.replacement(), function.get_type(), None);
        function.replace_all_uses_with(replacement);
        let _ = write!(text, "{}{}", access.declaration(), access.text());
    }
    // Their declarations may be the same.
    let texts = [text.as_str(), others].into_iter().filter(|text| !text.is_empty());
    for text in texts.clone() {
        let added = cuda_llvm::parse_ir(context, text).map_err(|e| format!("{e}\n{text}"))?;
        module.link_in_module(added).map_err(|e| e.to_string())?;
    }
    Ok(texts.count() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_gathers_and_scatters() {
        let gather = Access::of("llvm.masked.gather.v16f32.v16p0").unwrap();
        assert_eq!((gather.loads, gather.lanes, gather.element, gather.bytes), (true, 16, "float", 4));
        assert_eq!(gather.replacement(), "sim.consecutive.gather.v16f32.v16p0");
        assert_eq!(gather.vector(), "v16f32");
        let scatter = Access::of("llvm.masked.scatter.v8i64.v8p0").unwrap();
        assert_eq!((scatter.loads, scatter.lanes, scatter.element, scatter.bytes), (false, 8, "i64", 8));
        for other in ["llvm.masked.load.v8i64.p0", "llvm.masked.gather.v8i1.v8p0", "llvm.masked.gather.v8i64.v8p3"] {
            assert_eq!(Access::of(other), None, "{other}");
        }
    }
}
