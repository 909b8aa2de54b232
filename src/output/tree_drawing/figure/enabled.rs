//! PDF by svg2pdf, PNG by resvg, both from the SVG text.

use crate::error::{Error, Result};
use png::{BitDepth, ColorType, Encoder, PixelDimensions, Unit};
use resvg::render;
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};
use std::collections::BTreeSet;
use std::sync::Arc;
use svg2pdf::{ConversionOptions, PageOptions, to_pdf};
use ttf_parser::Face;

/// Nothing is missing.
pub(crate) const MISSING: Option<&str> = None;

/// The font, upright and in italics.
const FONTS: [&[u8]; 2] =
    [include_bytes!("fonts/Arimo-Regular.ttf"), include_bytes!("fonts/Arimo-Italic.ttf")];
/// Its name.
const FAMILY: &str = "Arimo";
/// Points to the inch.
const POINTS: f32 = 72.0;
/// Most pixels of a picture, each of which takes four bytes.
const MOST_PIXELS: f64 = 1e8;
/// Millimetres to the inch.
const INCH: f64 = 25.4;

/// The drawing, one unit of which is a point.
fn read(svg: &str) -> Result<Tree> {
    let mut fonts = Database::new();
    for font in FONTS {
        fonts.load_font_source(Source::Binary(Arc::new(font)));
    }
    // What SVG asks for when it has neither Helvetica nor Arial.
    fonts.set_sans_serif_family(FAMILY);
    let options = Options { dpi: POINTS, fontdb: Arc::new(fonts), ..Options::default() };
    Tree::from_str(svg, &options)
        .map_err(|error| Error::Failed(format!("the drawing cannot be converted: {error}")))
}

/// The drawing as a page of PDF that is as large as the drawing, with text as text.
///
/// # Errors
/// [`Error::Failed`] for a drawing that cannot be converted.
pub(crate) fn pdf_of(svg: &str) -> Result<Vec<u8>> {
    let page = PageOptions { dpi: POINTS };
    to_pdf(&read(svg)?, ConversionOptions::default(), page)
        .map_err(|error| Error::Failed(format!("the drawing cannot be written as PDF: {error}")))
}

/// The drawing as PNG on white, with so many pixels to the inch, which the file also says.
///
/// # Errors
/// [`Error::Usage`] for a picture that is too large, [`Error::Failed`] for one that cannot be converted.
pub(crate) fn png_of(svg: &str, dpi: f64) -> Result<Vec<u8>> {
    let tree = read(svg)?;
    let scale = dpi / f64::from(POINTS);
    let size = [tree.size().width(), tree.size().height()].map(|size| f64::from(size) * scale);
    let [width, height] = size.map(|size| size.round().max(1.0));
    let too_large = || {
        let pixels = (width * height / 1e6).round();
        Error::Usage(format!(
            "the picture would have {width} x {height} = {pixels} million pixels, at most {} million are drawn: \
             give a smaller --dpi, or draw PDF or SVG",
            MOST_PIXELS / 1e6
        ))
    };
    if width * height > MOST_PIXELS {
        return Err(too_large());
    }
    let mut pixels = Pixmap::new(width as u32, height as u32).ok_or_else(too_large)?;
    pixels.fill(Color::WHITE);
    render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut pixels.as_mut());
    // On white, nothing is transparent: three bytes of four are the colour.
    let colours: Vec<u8> =
        pixels.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width as u32, height as u32);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let per_metre = (dpi / INCH * 1000.0).round() as u32;
    let dimensions = PixelDimensions { xppu: per_metre, yppu: per_metre, unit: Unit::Meter };
    encoder.set_pixel_dims(Some(dimensions));
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&colours)?;
        writer.finish()
    });
    written
        .map(|()| file)
        .map_err(|error| Error::Failed(format!("the drawing cannot be written as PNG: {error}")))
}

/// The letters of these texts that the font lacks; each once, in the order of Unicode.
pub(crate) fn unknown_letters<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let Ok(face) = Face::parse(FONTS[0], 0) else { return String::new() };
    let letters: BTreeSet<char> = texts.flat_map(str::chars).collect();
    letters.into_iter().filter(|letter| face.glyph_index(*letter).is_none()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::letters::width_of;
    use super::*;

    #[test]
    fn widths_are_those_of_the_font_or_more() {
        for font in FONTS {
            let face = Face::parse(font, 0).unwrap();
            let unit = f64::from(face.units_per_em());
            for letter in (' '..='\u{2265}').filter(|letter| !letter.is_control()) {
                let Some(glyph) = face.glyph_index(letter) else { continue };
                let width = f64::from(face.glyph_hor_advance(glyph).unwrap()) / unit;
                let ours = width_of(letter.encode_utf8(&mut [0; 4]));
                if letter <= '\u{ff}' {
                    assert!((ours - width).abs() < 1e-3, "{letter}: {ours}, not {width}");
                } else {
                    assert!(ours > width - 1e-3, "{letter}: {ours} < {width}");
                }
            }
        }
    }

    const DRAWING: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"25.4mm\" height=\"12.7mm\" viewBox=\"0 0 72 36\" \
         font-family=\"Helvetica, Arial, sans-serif\"><text x=\"2\" y=\"20\" font-size=\"12\">Homo</text></svg>";

    #[test]
    fn a_picture_has_the_size_that_was_asked_for_and_letters_in_it() {
        let file = png_of(DRAWING, 200.0).unwrap();
        let mut reader = png::Decoder::new(file.as_slice()).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (200, 100));
        assert_eq!(reader.info().pixel_dims.map(|dims| dims.xppu), Some(7874));
        let dark = pixels.chunks(3).filter(|pixel| pixel[0] < 128).count();
        assert!((200..2000).contains(&dark), "{dark} dark pixels");
        let error = png_of(DRAWING, 50_000.0).unwrap_err().to_string();
        assert!(error.contains("1250 million") && error.contains("--dpi"), "{error}");
    }

    #[test]
    fn a_page_is_the_same_each_time_and_what_is_no_drawing_is_an_error() {
        let page = pdf_of(DRAWING).unwrap();
        assert!(page.starts_with(b"%PDF-") && page == pdf_of(DRAWING).unwrap());
        assert!(pdf_of("<svg").unwrap_err().to_string().contains("cannot be converted"));
    }

    #[test]
    fn letters_that_the_font_lacks_are_found() {
        assert_eq!(unknown_letters(["Homo sapiens", "Größe Œ Ω Ж", "人b猿人"].into_iter()), "人猿");
    }
}
