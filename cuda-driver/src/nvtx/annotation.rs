//! The attributes of a mark or a range: [`Annotation`], [`Color`], [`Payload`].
//!
//! # Safety
//!
//! Only a test reads a union, all of whose fields are plain data.

use super::{Category, Domain, Name, sys};

/// The attributes of a mark or a range: message, colour, category and payload.
///
/// # Examples
///
/// ```
/// use cuda_driver::nvtx::{self, Annotation, Color};
///
/// nvtx::mark(Annotation::new("half of it").color(Color::BLUE).payload(0.5));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Annotation<'a> {
    message: Message<'a>,
    color: Option<Color>,
    category: Option<&'a Category>,
    payload: Option<Payload>,
}

#[derive(Clone, Debug)]
enum Message<'a> {
    Text(&'a str),
    Name(&'a Name),
}

impl<'a> Annotation<'a> {
    /// An annotation with only a text.
    pub fn new(text: &'a str) -> Self {
        Self::of(Message::Text(text))
    }

    fn of(message: Message<'a>) -> Self {
        Annotation { message, color: None, category: None, payload: None }
    }

    /// Sets the colour.
    pub fn color(mut self, color: Color) -> Self {
        self.color = Some(color);
        self
    }

    /// Sets the category; one of another domain is ignored.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_driver::nvtx::{Annotation, Domain};
    ///
    /// let domain = Domain::new("my library");
    /// let io = domain.category("input and output");
    /// domain.mark(Annotation::new("opened").category(&io));
    /// ```
    pub fn category(mut self, category: &'a Category) -> Self {
        self.category = Some(category);
        self
    }

    /// Sets the payload: a number that is shown with the annotation.
    pub fn payload(mut self, payload: impl Into<Payload>) -> Self {
        self.payload = Some(payload.into());
        self
    }

    pub(super) fn text(&self) -> &str {
        match self.message {
            Message::Text(text) => text,
            Message::Name(name) => &name.text,
        }
    }

    /// The handle of the text, if the tool has registered it in this domain.
    pub(super) fn registered_in(&self, domain: &Domain) -> Option<sys::nvtxStringHandle_t> {
        match self.message {
            Message::Name(name) if name.domain.is(domain) && !name.raw.is_null() => Some(name.raw),
            _ => None,
        }
    }

    pub(super) fn attributes(
        &self,
        domain: &Domain,
        kind: sys::nvtxMessageType_t,
        message: sys::nvtxMessageValue_t,
    ) -> sys::nvtxEventAttributes_t {
        let none = (sys::nvtxPayloadType_t::default(), sys::nvtxEventAttributes_v2_payload_t { ullValue: 0 });
        let (payload_type, payload) = self.payload.map_or(none, Payload::raw);
        let color_type = match self.color {
            Some(_) => sys::nvtxColorType_t::NVTX_COLOR_ARGB,
            None => sys::nvtxColorType_t::NVTX_COLOR_UNKNOWN,
        };
        sys::nvtxEventAttributes_t {
            version: sys::NVTX_VERSION as u16,
            size: size_of::<sys::nvtxEventAttributes_t>() as u16,
            category: self.category.filter(|category| category.domain.is(domain)).map_or(0, |category| category.number),
            colorType: color_type.0 as i32,
            color: self.color.map_or(0, Color::argb),
            payloadType: payload_type.0 as i32,
            reserved0: 0,
            payload,
            messageType: kind.0 as i32,
            message,
        }
    }
}

impl<'a> From<&'a str> for Annotation<'a> {
    fn from(text: &'a str) -> Self {
        Annotation::new(text)
    }
}

impl<'a> From<&'a String> for Annotation<'a> {
    fn from(text: &'a String) -> Self {
        Annotation::new(text)
    }
}

impl<'a> From<&'a Name> for Annotation<'a> {
    fn from(name: &'a Name) -> Self {
        Annotation::of(Message::Name(name))
    }
}

/// A colour, for profilers that show it.
///
/// # Examples
///
/// ```
/// use cuda_driver::nvtx::Color;
///
/// assert_eq!(Color::rgb(0, 255, 0), Color::GREEN);
/// assert_eq!(Color::GREEN.argb(), 0xff00_ff00);
/// let phases = [Color::RED, Color::ORANGE, Color::YELLOW, Color::CYAN, Color::BLUE, Color::MAGENTA];
/// let others = [Color::BLACK, Color::GREY, Color::WHITE];
/// assert!(phases.iter().all(|phase| !others.contains(phase)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Color(u32);

impl Color {
    /// Black.
    pub const BLACK: Color = Color::rgb(0, 0, 0);
    /// White.
    pub const WHITE: Color = Color::rgb(255, 255, 255);
    /// Red.
    pub const RED: Color = Color::rgb(255, 0, 0);
    /// Green.
    pub const GREEN: Color = Color::rgb(0, 255, 0);
    /// Blue.
    pub const BLUE: Color = Color::rgb(0, 0, 255);
    /// Yellow.
    pub const YELLOW: Color = Color::rgb(255, 255, 0);
    /// Magenta.
    pub const MAGENTA: Color = Color::rgb(255, 0, 255);
    /// Cyan.
    pub const CYAN: Color = Color::rgb(0, 255, 255);
    /// Orange.
    pub const ORANGE: Color = Color::rgb(255, 165, 0);
    /// Grey.
    pub const GREY: Color = Color::rgb(128, 128, 128);

    /// An opaque colour from its components, each from 0 to 255.
    #[must_use]
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Color(u32::from_be_bytes([255, red, green, blue]))
    }

    /// The colour in NVTX's encoding: alpha, red, green, blue, from the highest byte on.
    #[must_use]
    pub const fn argb(self) -> u32 {
        self.0
    }
}

/// The payload of a mark or a range: a number.
///
/// # Examples
///
/// ```
/// use cuda_driver::nvtx::Payload;
///
/// assert_eq!(Payload::from(7_i32), Payload::I32(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Payload {
    /// An unsigned 64-bit integer.
    U64(u64),
    /// A signed 64-bit integer.
    I64(i64),
    /// A double.
    F64(f64),
    /// An unsigned 32-bit integer.
    U32(u32),
    /// A signed 32-bit integer.
    I32(i32),
    /// A float.
    F32(f32),
}

macro_rules! payloads {
    ($($ty:ty => $variant:ident, $field:ident, $kind:ident;)*) => {
        $(impl From<$ty> for Payload {
            fn from(value: $ty) -> Self {
                Payload::$variant(value)
            }
        })*

        impl Payload {
            fn raw(self) -> (sys::nvtxPayloadType_t, sys::nvtxEventAttributes_v2_payload_t) {
                // The tool reads the field that the type names; the rest is zero.
                let mut raw = sys::nvtxEventAttributes_v2_payload_t { ullValue: 0 };
                let kind = match self {
                    $(Payload::$variant(value) => {
                        raw.$field = value;
                        sys::nvtxPayloadType_t::$kind
                    })*
                };
                (kind, raw)
            }
        }
    };
}

payloads! {
    u64 => U64, ullValue, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    i64 => I64, llValue, NVTX_PAYLOAD_TYPE_INT64;
    f64 => F64, dValue, NVTX_PAYLOAD_TYPE_DOUBLE;
    u32 => U32, uiValue, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
    i32 => I32, iValue, NVTX_PAYLOAD_TYPE_INT32;
    f32 => F32, fValue, NVTX_PAYLOAD_TYPE_FLOAT;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_set_only_the_bytes_of_their_type() {
        let (kind, raw) = Payload::from(-1_i32).raw();
        assert_eq!(kind, sys::nvtxPayloadType_t::NVTX_PAYLOAD_TYPE_INT32);
        // SAFETY: every field of the union is plain data.
        assert_eq!(unsafe { raw.ullValue }, 0xffff_ffff);
    }
}
