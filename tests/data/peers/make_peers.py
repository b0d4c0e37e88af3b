#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes the files of this folder with numpy, Pillow, h5py and Python's csv: what our readers are
# measured against. Run it in this folder to make them anew (numpy 2.4, Pillow 13, h5py 3.16).
import csv
import io
import tarfile

import h5py
import numpy as np
from PIL import Image

numbers = np.arange(24).reshape(4, 3, 2) * 0.5 - 3  # value of [i, j, k]: 0.5 (6 i + 2 j + k) - 3
np.save("f4.npy", numbers.astype("<f4"))
np.save("f8_big.npy", numbers.astype(">f8"))
np.save("f2.npy", numbers.astype("<f2"))
np.save("fortran.npy", np.asfortranarray(numbers.astype("<f4")))
np.save("i2_big.npy", (numbers * 2).astype(">i2"))
np.save("u1.npy", (numbers * 2 + 6).astype("u1"))
np.save("labels.npy", np.array([2, 0, 1, 2], "<i8"))
np.save("flags.npy", np.array([True, False, False, True]))
np.save("objects.npy", np.array([{"a": 1}, None], dtype=object))
with open("version3.npy", "wb") as file:
    np.lib.format.write_array(file, numbers.astype("<f4"), version=(3, 0))

with h5py.File("packed.h5", "w") as file:
    file.create_dataset("measured/values", data=numbers.reshape(4, 6).astype(">f4"), chunks=(2, 3),
                        compression="gzip", shuffle=True)
    file.create_dataset("measured/kinds", data=np.array([2, 0, 1, 2], "i1"))
with h5py.File("plain.h5", "w") as file:
    file["x"] = numbers.reshape(4, 6).astype("<f4")
    file["y"] = numbers[:, 0, 0].astype("<f8")
    file["names"] = ["a", "b", "c", "d"]
    file["flags"] = np.array([True, False, False, True])

many = np.arange(300 * 6).reshape(300, 6) * 0.25 - 7  # value of [i, k]: 0.25 (6 i + k) - 7
kinds = np.arange(300) % 3
with h5py.File("chunk_shapes.h5", "w") as file:  # all but the first row is zeros
    for name, shape, chunks in [("columns", (5000, 64), (1000, 1)), ("large", (100000, 128), (40000, 128)),
                                ("tiny", (1200, 4), (1, 4)), ("fine", (5000, 64), (1000, 64))]:
        file.create_dataset(name, shape=shape, dtype="<f4", chunks=chunks, compression="gzip")[0] = 1
        file.create_dataset(name + "_y", data=(np.arange(shape[0]) % 3).astype("i1"), chunks=shape[:1],
                            compression="gzip")

with h5py.File("chunks.h5", "w") as file:
    file.create_dataset("x", data=many.astype("<f4"), chunks=(64, 6), compression="gzip",
                        shuffle=True, fletcher32=True)
    file.create_dataset("y", data=kinds.astype("<i8"), chunks=(100,), compression="gzip")
    file.create_dataset("parts", data=many.astype("<f4"), chunks=(64, 4), compression="gzip",
                        shuffle=True)  # a row is in two chunks, of the last ones a part is used
    file.create_dataset("checked", data=many.astype("<f8"), chunks=(100, 6), fletcher32=True)
    file.create_dataset("plain", data=many.astype("<f4"), chunks=(100, 6))
    file.create_dataset("big", data=many.astype(">f4"), chunks=(100, 6), compression="gzip")
    file.create_dataset("packed", data=many.astype("<f4"), chunks=(100, 6), compression="lzf")
    file.create_dataset("eight", data=many.astype("<f8"), chunks=(37, 6), compression="gzip",
                        shuffle=True)  # 222 elements: 13 times 16, and a rest
    file.create_dataset("two", data=(4 * many).astype("<i2"), chunks=(100, 6), compression="gzip",
                        shuffle=True)
    holes = file.create_dataset("holes", (300, 6), "<f4", chunks=(100, 6), compression="gzip",
                                fillvalue=5)
    holes[150:160] = many[150:160]
    file.create_dataset("cube", data=np.arange(50 * 5 * 7).reshape(50, 5, 7).astype("<f4"),
                        chunks=(8, 2, 3), compression="gzip")

with h5py.File("zeros.h5", "w") as file:  # 16 MiB
    file.create_dataset("x", data=np.zeros((1 << 18, 16), "<f4"), chunks=(1 << 11, 16),
                        compression="gzip", compression_opts=9, fletcher32=True)
    file.create_dataset("y", data=(np.arange(1 << 18) % 2).astype("u1"), chunks=(1 << 16,),
                        compression="gzip")


def picture(width, height):
    x, y = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    rgb = np.stack([x, y, 0.5 + 0.5 * np.sin(6 * x * y)], -1)
    return Image.fromarray((rgb * 255).round().astype("u1"))


def expected(name, image, size=(12, 8)):
    np.save(name, np.asarray(image.convert("RGB").resize(size, Image.Resampling.BILINEAR)))


rgb = picture(36, 24)
rgb.save("rgb.png")
expected("rgb.expected.npy", rgb)
rgb.save("rgb.jpg", quality=90)
expected("rgb_jpg.expected.npy", Image.open("rgb.jpg"))
rgb.convert("L").save("grey.jpg", quality=90)
expected("grey.expected.npy", Image.open("grey.jpg"))
rgb.convert("CMYK").save("cmyk.jpg", quality=90)
expected("cmyk.expected.npy", Image.open("cmyk.jpg"))
rgb.quantize(16).save("palette.png")
expected("palette.expected.npy", Image.open("palette.png"))
rgba = rgb.copy()
rgba.putalpha(Image.fromarray(np.asarray(rgb)[:, :, 0]))
rgba.save("alpha.png")
white = Image.new("RGBA", rgba.size, (255, 255, 255, 255))
expected("alpha.expected.npy", Image.alpha_composite(white, rgba))
deep = (np.asarray(rgb.convert("L")).astype("u2")) * 257
Image.fromarray(deep).save("grey16.png")
expected("grey16.expected.npy", Image.fromarray((deep // 257).astype("u1")))
small = picture(5, 4)  # grows
small.save("small.png")
expected("small.expected.npy", small)
for orientation in range(1, 9):
    exif = Image.Exif()
    exif[0x0112] = orientation
    turned = {1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180,
              4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE,
              6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
              8: Image.Transpose.ROTATE_270}[orientation]
    stored = rgb if turned is None else rgb.transpose(turned)
    stored.save(f"turned{orientation}.jpg", quality=95, exif=exif)  # each shows rgb

long = "folder_" * 20 + "é"  # longer than the 100 bytes of a name, and no ASCII
for name, form in [("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT),
                   ("pax", tarfile.PAX_FORMAT)]:
    with tarfile.open(f"{name}.tar", "w", format=form) as tar:
        def add(path, content):
            info = tarfile.TarInfo(path)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        folder = tarfile.TarInfo("a")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        add("a/000000.png", open("rgb.png", "rb").read())
        add("a/000000.cls", b"2\n")
        deep = long if name != "ustar" else "b"
        add(f"{deep}/000001.seg.jpg", open("grey.jpg", "rb").read())
        add(f"{deep}/000001.cls", b"0")
        add("000002.json", b'{"label": 10, "width": 5}')
        add("000002.png", open("small.png", "rb").read())
        add("read.me", b"no image")
        link = tarfile.TarInfo("a/link.png")
        link.type, link.linkname = tarfile.SYMTYPE, "000000.png"
        tar.addfile(link)

with open("quoted.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["size", "remark", "kind"])
    for size, remark, kind in [(1.5, 'a "quoted" word', "red"), (2.5, "two\nlines", "blue"),
                               (-3e-2, "comma, here", "red"), (4, "", "blue")]:
        writer.writerow([size, remark, kind])
