//! The CUDA Array Interface as JSON, for programs in other languages.

use serde_json::{Map, Value, json};

use crate::share::exchange::ExchangeError;
use crate::share::interface::CudaArrayInterface;

impl CudaArrayInterface {
    /// The interface as one line of JSON, as Python's `json` module reads it. JSON has no tuples: an object that
    /// returns it as its `__cuda_array_interface__` converts `shape`, `strides` and `data` into tuples.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_mem::CudaArrayInterface;
    ///
    /// let x = cuda_mem::zeros::<f32, _>(&context, (2, 3))?;
    /// let interface = x.cuda_array_interface(&context.default_stream())?;
    /// let text = interface.to_json()?;
    /// assert!(text.contains(r#""shape":[2,3]"#) && text.contains(r#""typestr":"<f4""#));
    /// assert_eq!(CudaArrayInterface::from_json(&text)?, interface);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ExchangeError::Masked`] for a masked array, whose mask is not stored here.
    pub fn to_json(&self) -> Result<String, ExchangeError> {
        if self.masked {
            return Err(ExchangeError::Masked);
        }
        let object = json!({
            "shape": self.shape,
            "typestr": self.typestr,
            "data": self.data,
            "version": self.version,
            "strides": self.strides,
            "stream": self.stream,
            "descr": [["", self.typestr]],
            "mask": null,
        });
        Ok(object.to_string())
    }

    /// Parses an interface from JSON. Unknown fields are ignored; the values are checked when the array is
    /// [imported](crate::DeviceArray::from_cuda_array_interface).
    ///
    /// # Errors
    ///
    /// [`ExchangeError::Json`] with the field, what it has to be and what it is.
    pub fn from_json(text: &str) -> Result<Self, ExchangeError> {
        let value: Value = serde_json::from_str(text).map_err(|error| ExchangeError::Json(error.to_string()))?;
        let Value::Object(fields) = value else {
            return Err(ExchangeError::Json(format!(
                "it has to be an object with `shape` and others, and is `{value}`"
            )));
        };
        let fields = Fields(fields);
        Ok(CudaArrayInterface {
            shape: fields.required("shape", "a list of extents", |value| list(value, extent))?,
            typestr: fields.required("typestr", "a text such as \"<f4\"", |value| Some(value.as_str()?.to_owned()))?,
            data: fields.required("data", "a list of an address and a read-only flag", data)?,
            version: fields.required("version", "a number", |value| u32::try_from(value.as_u64()?).ok())?,
            strides: fields.optional("strides", "null, or a list of strides in bytes", |value| list(value, stride))?,
            stream: fields.optional("stream", "null, or a stream's number", Value::as_u64)?,
            masked: fields.optional("mask", "null, or an object", |value| value.as_object().map(|_| ()))?.is_some(),
        })
    }
}

/// The fields of a JSON object, by name.
struct Fields(Map<String, Value>);

impl Fields {
    /// A field that may be missing or null.
    fn optional<T>(
        &self,
        name: &str,
        kind: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, ExchangeError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| not(name, kind, &value.to_string())),
        }
    }

    fn required<T>(&self, name: &str, kind: &str, read: impl Fn(&Value) -> Option<T>) -> Result<T, ExchangeError> {
        let absent = || self.0.get(name).map_or_else(|| "missing".to_owned(), Value::to_string);
        self.optional(name, kind, read)?.ok_or_else(|| not(name, kind, &absent()))
    }
}

fn not(name: &str, kind: &str, value: &str) -> ExchangeError {
    ExchangeError::Json(format!("its `{name}` has to be {kind}, and is {value}"))
}

fn list<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(read).collect()
}

fn extent(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn stride(value: &Value) -> Option<isize> {
    isize::try_from(value.as_i64()?).ok()
}

/// The address, and true if it is read-only. The address of an array without elements may be null.
fn data(value: &Value) -> Option<(u64, bool)> {
    let [address, read_only] = value.as_array()?.as_slice() else { return None };
    let address = if address.is_null() { 0 } else { address.as_u64()? };
    Some((address, read_only.as_bool()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> CudaArrayInterface {
        CudaArrayInterface {
            shape: vec![2, 3],
            typestr: "<f4".into(),
            data: (u64::MAX, true),
            strides: Some(vec![-12, 4]),
            version: 3,
            stream: Some(2),
            masked: false,
        }
    }

    #[test]
    fn an_interface_round_trips_as_text() {
        let text = whole().to_json().unwrap();
        let expected = concat!(
            r#"{"data":[18446744073709551615,true],"descr":[["","<f4"]],"mask":null,"shape":[2,3],"stream":2,"#,
            r#""strides":[-12,4],"typestr":"<f4","version":3}"#
        );
        assert_eq!(text, expected);
        assert_eq!(CudaArrayInterface::from_json(&text), Ok(whole()));
        let without = CudaArrayInterface { strides: None, stream: None, shape: vec![], ..whole() };
        assert_eq!(CudaArrayInterface::from_json(&without.to_json().unwrap()), Ok(without));
        let masked = CudaArrayInterface { masked: true, ..whole() };
        assert_eq!(masked.to_json(), Err(ExchangeError::Masked));
    }

    #[test]
    fn what_python_writes_is_read() {
        // The output of `json.dumps` for a dictionary with the required fields, and with more.
        let text = r#"{"shape": [4], "typestr": "|u1", "data": [null, false], "version": 3}"#;
        let read = CudaArrayInterface::from_json(text).unwrap();
        assert_eq!(
            (read.shape, read.data, read.strides, read.stream, read.masked),
            (vec![4], (0, false), None, None, false)
        );
        let text =
            r#"{"shape": [], "typestr": "<i8", "data": [512, false], "version": 2, "mask": {"shape": []}, "new": 1}"#;
        assert!(CudaArrayInterface::from_json(text).unwrap().masked);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let with = |field: &str, value: &str| {
            let Ok(Value::Object(mut fields)) = serde_json::from_str(&whole().to_json().unwrap()) else { panic!() };
            match value {
                "" => fields.remove(field),
                value => fields.insert(field.to_owned(), serde_json::from_str(value).unwrap()),
            };
            CudaArrayInterface::from_json(&Value::Object(fields).to_string()).unwrap_err().to_string()
        };
        let begin = "the text is no CUDA Array Interface: its ";
        let all = [
            ("shape", "", "`shape` has to be a list of extents, and is missing"),
            ("shape", "null", "`shape` has to be a list of extents, and is null"),
            ("shape", "[2, -1]", "`shape` has to be a list of extents, and is [2,-1]"),
            ("shape", "6", "`shape` has to be a list of extents, and is 6"),
            ("typestr", "4", "`typestr` has to be a text such as \"<f4\", and is 4"),
            ("data", "[1]", "`data` has to be a list of an address and a read-only flag, and is [1]"),
            ("data", "[1.5, true]", "`data` has to be a list of an address and a read-only flag, and is [1.5,true]"),
            ("data", "[1, 0]", "`data` has to be a list of an address and a read-only flag, and is [1,0]"),
            ("version", "\"3\"", "`version` has to be a number, and is \"3\""),
            ("version", "4294967296", "`version` has to be a number, and is 4294967296"),
            ("strides", "[12, 0.5]", "`strides` has to be null, or a list of strides in bytes, and is [12,0.5]"),
            ("stream", "-1", "`stream` has to be null, or a stream's number, and is -1"),
            ("mask", "true", "`mask` has to be null, or an object, and is true"),
        ];
        for (field, value, expected) in all {
            assert_eq!(with(field, value), format!("{begin}{expected}"));
        }
        let broken = |text: &str| CudaArrayInterface::from_json(text).unwrap_err().to_string();
        assert_eq!(
            broken("[1]"),
            "the text is no CUDA Array Interface: it has to be an object with `shape` and others, and is `[1]`"
        );
        assert!(broken("{\"shape\": [2,").contains("at line 1 column 13"), "{}", broken("{\"shape\": [2,"));
        assert!(broken(&"[".repeat(1000)).contains("recursion limit"));
    }
}
