import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { OverlayOptions } from 'sharp';
import { parseGroundTruth } from '../../packages/visionctl/src/calibration/ground-truth.ts';
import type { GroundTruth } from '../../packages/visionctl/src/calibration/ground-truth.ts';
import { pick as pickBy, seeded } from '../../test/faults/random.ts';

/**
 * Makes labelled pictures with people of many sizes out of a few photographs: each mosaic has 2 to 16 of them in cells,
 * some turned left to right. `node --conditions=@vision/source bench/accuracy/make-mosaics.ts PHOTOS OUT [COUNT]`, with
 * the photographs that `photos.json` names in PHOTOS. The same numbers always give the same mosaics.
 */
const [photosDir = '', out = '', count = '300'] = process.argv.slice(2);
const WIDTH = 768;
const HEIGHT = 576;
const GRIDS = [
  [2, 1],
  [2, 2],
  [3, 2],
  [3, 3],
  [4, 3],
  [4, 4],
] as const;
/** Share of the cells that show people. */
const WITH_PEOPLE = 0.65;

const random = seeded(61);
const photos = parseGroundTruth(JSON.parse(await readFile(join(import.meta.dirname, 'photos.json'), 'utf8')));
const people = photos.filter(({ objects }) => objects.length > 0);
const others = photos.filter(({ objects, ignored }) => objects.length + ignored.length === 0);
const images: object[] = [];
const annotations: object[] = [];

await mkdir(out, { recursive: true });
for (let id = 0; id < Number(count); id += 1) {
  const [columns, rows] = pick(GRIDS);
  const cell = { width: WIDTH / columns, height: HEIGHT / rows };
  const layers: OverlayOptions[] = [];
  for (let index = 0; index < columns * rows; index += 1) {
    const photo = pick(random() < WITH_PEOPLE ? people : others);
    const at = { left: (index % columns) * cell.width, top: Math.floor(index / columns) * cell.height };
    layers.push(await placed(photo, { ...cell, ...at }, id));
  }
  const file = `${String(id).padStart(4, '0')}.jpg`;
  const background = { r: 90 + 60 * random(), g: 90 + 60 * random(), b: 90 + 60 * random() };
  const canvas = sharp({ create: { width: WIDTH, height: HEIGHT, channels: 3, background } });
  await canvas.composite(layers).jpeg({ quality: 88 }).toFile(join(out, file));
  images.push({ id, file_name: file, width: WIDTH, height: HEIGHT });
}
await writeFile(
  join(out, 'labels.json'),
  JSON.stringify({ images, categories: [{ id: 1, name: 'person' }], annotations }),
);

/** A photograph as large as its cell takes it; its labels are noted where they come to lie. */
async function placed(
  photo: GroundTruth,
  cell: { left: number; top: number; width: number; height: number },
  mosaic: number,
): Promise<OverlayOptions> {
  const scale = Math.min(cell.width / photo.width, cell.height / photo.height);
  const width = Math.max(1, Math.floor(photo.width * scale));
  const height = Math.max(1, Math.floor(photo.height * scale));
  const isTurned = random() < 0.5;
  const left = Math.floor(cell.left + (cell.width - width) * random());
  const top = Math.floor(cell.top + (cell.height - height) * random());
  const note = (iscrowd: number) => (object: GroundTruth['objects'][number]) => {
    const box = object.box;
    const from = isTurned ? photo.width - box.right : box.left;
    const size = [(box.right - box.left) * scale, (box.bottom - box.top) * scale] as const;
    annotations.push({
      image_id: mosaic,
      category_id: 1,
      bbox: [left + from * scale, top + box.top * scale, ...size].map((value) => Math.round(value * 10) / 10),
      iscrowd,
    });
  };
  photo.objects.forEach(note(0));
  photo.ignored.forEach(note(1));
  const scaled = sharp(join(photosDir, photo.file)).rotate().resize(width, height, { fit: 'fill' });
  return { input: await (isTurned ? scaled.flop() : scaled).png({ compressionLevel: 1 }).toBuffer(), left, top };
}

function pick<T>(items: readonly T[]): T {
  return pickBy(random, items);
}
