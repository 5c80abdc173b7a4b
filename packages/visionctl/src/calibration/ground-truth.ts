import { z } from 'zod';

/** A box by its corners; both sides of a comparison use the same unit. */
export interface Corners {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** What a person says is in an image. */
export interface GroundTruth {
  file: string;
  width: number;
  height: number;
  objects: { label: string; box: Corners }[];
  /** Places where nothing is counted: crowds, and what cannot be told by eye either. */
  ignored: { label: string; box: Corners }[];
}

const box = z.tuple([z.number(), z.number(), z.number().positive(), z.number().positive()]);
const id = z.union([z.number(), z.string()]);

/** The part of the COCO format for object detection that matters here; every labelling tool writes it. */
const cocoFile = z.object({
  images: z.array(z.object({ id, file_name: z.string(), width: z.number(), height: z.number() })).min(1),
  categories: z.array(z.object({ id, name: z.string() })).min(1),
  annotations: z.array(z.object({ image_id: id, category_id: id, bbox: box, iscrowd: z.literal([0, 1]).default(0) })),
});

/** Reads a file in the COCO format. @throws ZodError when it is none, Error when it names what it does not have */
export function parseGroundTruth(content: unknown): GroundTruth[] {
  const coco = cocoFile.parse(content);
  const names = new Map(coco.categories.map((category) => [category.id, category.name]));
  const images = new Map(
    coco.images.map(({ id: key, file_name: file, width, height }): [number | string, GroundTruth] => [
      key,
      { file, width, height, objects: [], ignored: [] },
    ]),
  );
  for (const { image_id: image, category_id: category, bbox, iscrowd } of coco.annotations) {
    const truth = images.get(image);
    const label = names.get(category);
    if (!truth || label === undefined)
      throw new Error(`An annotation names image ${image} or category ${category}, which is not there.`);
    const [left, top, width, height] = bbox;
    const entry = { label, box: { left, top, right: left + width, bottom: top + height } };
    (iscrowd === 1 ? truth.ignored : truth.objects).push(entry);
  }
  return [...images.values()];
}
