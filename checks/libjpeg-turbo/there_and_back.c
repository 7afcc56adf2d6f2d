/* Compresses pictures of every small size and looks at what comes back: with all samples kept and the best
 * quality each is at most a few steps off; a library that says so little of itself has to be right in this. */
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>

#define LARGEST 40
#define ALLOWED 4

static unsigned char pixel(int x, int y, int band)
{
    return (unsigned char)(40 + 3 * x + 2 * y * (band + 1));
}

static unsigned long compress(int side, J_DCT_METHOD method, unsigned char **made)
{
    struct jpeg_compress_struct about;
    struct jpeg_error_mgr errors;
    unsigned char line[3 * LARGEST];
    JSAMPROW row = line;
    unsigned long length = 0;
    about.err = jpeg_std_error(&errors);
    jpeg_create_compress(&about);
    jpeg_mem_dest(&about, made, &length);
    about.image_width = about.image_height = (JDIMENSION)side;
    about.input_components = 3;
    about.in_color_space = JCS_RGB;
    jpeg_set_defaults(&about);
    jpeg_set_quality(&about, 100, TRUE);
    about.dct_method = method;
    for (int band = 0; band < 3; band++)
        about.comp_info[band].h_samp_factor = about.comp_info[band].v_samp_factor = 1;
    jpeg_start_compress(&about, TRUE);
    for (int y = 0; y < side; y++) {
        for (int at = 0; at < 3 * side; at++)
            line[at] = pixel(at / 3, y, at % 3);
        jpeg_write_scanlines(&about, &row, 1);
    }
    jpeg_finish_compress(&about);
    jpeg_destroy_compress(&about);
    return length;
}

static int worst(int side, J_DCT_METHOD method, const unsigned char *made, unsigned long length)
{
    struct jpeg_decompress_struct about;
    struct jpeg_error_mgr errors;
    unsigned char line[3 * LARGEST];
    JSAMPROW row = line;
    int found = 0;
    about.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&about);
    jpeg_mem_src(&about, made, length);
    jpeg_read_header(&about, TRUE);
    about.dct_method = method;
    jpeg_start_decompress(&about);
    if (about.output_width != (JDIMENSION)side || about.output_components != 3)
        return 256;
    for (int y = 0; y < side; y++) {
        jpeg_read_scanlines(&about, &row, 1);
        for (int at = 0; at < 3 * side; at++) {
            int off = abs(line[at] - pixel(at / 3, y, at % 3));
            found = off > found ? off : found;
        }
    }
    jpeg_finish_decompress(&about);
    jpeg_destroy_decompress(&about);
    return found;
}

int main(void)
{
    /* JDCT_IFAST is not meant for this quality: it is off by tens on every processor. */
    static const J_DCT_METHOD methods[] = {JDCT_ISLOW, JDCT_FLOAT};
    int wrong = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int side = 1; side <= LARGEST; side++) {
            unsigned char *made = NULL;
            unsigned long length = compress(side, methods[kind], &made);
            int off = worst(side, methods[kind], made, length);
            if (off > ALLOWED) {
                printf("FAIL method %d, side %d: off by %d\n", kind, side, off);
                wrong++;
            }
            free(made);
        }
    printf("%d pictures are wrong\n", wrong);
    return wrong > 0;
}
