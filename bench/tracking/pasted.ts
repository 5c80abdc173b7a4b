import type { RgbImage } from '../../services/inference/src/domain/rgb-image.ts';
import type { Clip } from './clip.ts';
import type { Labelled } from './sequence.ts';
import { createChance } from './simulation/chance.ts';
import type { Chance } from './simulation/chance.ts';

/** A person cut out of the clip while it walks: one picture with transparency for each step. */
interface Walker {
  steps: Cutout[];
  /** Direction in which it walks in the clip. */
  isRightward: boolean;
}

interface Cutout {
  width: number;
  height: number;
  /** Four bytes a pixel; the last is how much of it covers the background. */
  data: Uint8Array;
}

export interface PastedPicture {
  timeMs: number;
  picture: RgbImage;
  people: Labelled[];
}

const SECONDS = 20;
const STEPS_A_SECOND = 10;
const ACTORS = 9;

/**
 * People cut out of the clip walk over a drawn pavement along known lines, in front of and behind each other. The
 * boxes are exact; the errors are those that the detector really makes on such pictures.
 */
export function* paste(clip: Clip, walkers: Walker[], seed: number, fps: number): Generator<PastedPicture> {
  const chance = createChance(seed);
  const ground = pavement(chance, clip.width, clip.height);
  const actors = Array.from({ length: ACTORS }, (_, id) => createActor(chance, clip, walkers, id)).sort(
    (a, b) => a.y - b.y,
  );
  for (let frame = 0; frame < SECONDS * fps; frame += 1) {
    const seconds = frame / fps;
    const picture = { ...ground, data: Uint8Array.from(ground.data) };
    const covered = new Int16Array(clip.width * clip.height).fill(-1);
    const drawn = actors.flatMap((actor) => {
      const cutout = actor.at(seconds);
      if (!cutout) return [];
      return [{ id: actor.id, ...draw(picture, covered, actor.id, cutout) }];
    });
    const left = new Map<number, number>();
    for (const id of covered) left.set(id, (left.get(id) ?? 0) + 1);
    const people = drawn
      .filter(({ id, pixels, isInside }) => isInside && (left.get(id) ?? 0) >= LEAST_VISIBLE * pixels)
      .map(({ id, bbox }) => ({ id, bbox }));
    yield { timeMs: Math.round(seconds * 1000), picture, people };
  }
}

const LEAST_VISIBLE = 0.15;

interface Placed {
  cutout: Cutout;
  scale: number;
  isMirrored: boolean;
  /** Foot point in pixels. */
  x: number;
  y: number;
}

function createActor(chance: Chance, clip: Clip, walkers: Walker[], id: number) {
  const walker = walkers[Math.floor(chance.even() * walkers.length)];
  const isRightward = chance.happens(0.5);
  const y = clip.height * chance.between(0.5, 0.92);
  const size = clip.height * (0.1 + 0.16 * (y / clip.height));
  const from = chance.between(-9, SECONDS - 6);
  const speed = size * chance.between(0.55, 0.95);
  const climb = size * chance.between(-0.08, 0.08);
  const first = Math.floor(chance.between(0, 100));
  return {
    id,
    y,
    at: (seconds: number): Placed | undefined => {
      const steps = walker?.steps ?? [];
      const cutout = steps[backAndForth(first + Math.round(seconds * STEPS_A_SECOND), steps.length)];
      const walked = speed * (seconds - from);
      if (!walker || !cutout || walked < 0) return undefined;
      const x = isRightward ? walked - size / 4 : clip.width + size / 4 - walked;
      if (x < -size / 4 || x > clip.width + size / 4) return undefined;
      const isMirrored = isRightward !== walker.isRightward;
      return { cutout, scale: size / cutout.height, isMirrored, x, y: y + climb * (seconds - from) };
    },
  };
}

function backAndForth(step: number, length: number): number {
  const turn = step % (2 * length - 2);
  return turn < length ? turn : 2 * length - 2 - turn;
}

/** Draws the person and remembers whose pixels are seen now. */
function draw(picture: RgbImage, covered: Int16Array, id: number, placed: Placed) {
  const { cutout, scale, isMirrored, x, y } = placed;
  const [width, height] = [Math.round(cutout.width * scale), Math.round(cutout.height * scale)];
  const [left, top] = [Math.round(x - width / 2), Math.round(y - height)];
  let pixels = 0;
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const [toX, toY] = [left + column, top + row];
      if (toX < 0 || toY < 0 || toX >= picture.width || toY >= picture.height) continue;
      const fromX = Math.floor((isMirrored ? width - 1 - column : column) / scale);
      const from = (Math.floor(row / scale) * cutout.width + Math.min(cutout.width - 1, fromX)) * 4;
      const alpha = (cutout.data[from + 3] ?? 0) / 255;
      const to = (toY * picture.width + toX) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        const before = picture.data[to + channel] ?? 0;
        picture.data[to + channel] = before + alpha * ((cutout.data[from + channel] ?? 0) - before);
      }
      if (alpha < 0.5) continue;
      covered[toY * picture.width + toX] = id;
      pixels += 1;
    }
  }
  const [right, bottom] = [Math.min(picture.width, left + width), Math.min(picture.height, top + height)];
  const [shownLeft, shownTop] = [Math.max(0, left), Math.max(0, top)];
  const bbox = {
    cx: (shownLeft + right) / 2 / picture.width,
    cy: (shownTop + bottom) / 2 / picture.height,
    width: (right - shownLeft) / picture.width,
    height: (bottom - shownTop) / picture.height,
  };
  return { bbox, pixels, isInside: right - shownLeft >= 0.4 * width };
}

/** Slabs with seams, stains and noise: nothing that looks like a person. */
function pavement(chance: Chance, width: number, height: number): RgbImage {
  const data = new Uint8Array(width * height * 3);
  const tone = chance.between(110, 160);
  const slab = Math.round(chance.between(40, 90));
  const stains = Array.from({ length: 30 }, () => ({
    x: chance.between(0, width),
    y: chance.between(0, height),
    reach: chance.between(10, 60),
    depth: chance.between(-20, 10),
  }));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const isSeam = (x + Math.round(y * 0.3)) % slab < 1 || y % Math.max(6, Math.round((slab * y) / height)) < 1;
      let light = tone + (isSeam ? -15 : 0) + chance.normal(4) + (20 * y) / height;
      for (const { x: atX, y: atY, reach, depth } of stains) {
        const away = ((x - atX) ** 2 + (y - atY) ** 2) / reach ** 2;
        if (away < 1) light += depth * (1 - away);
      }
      const at = (y * width + x) * 3;
      data[at] = light;
      data[at + 1] = light * 0.98;
      data[at + 2] = light * 0.94;
    }
  }
  return { width, height, data };
}

/** How different from the empty street a pixel has to be to belong to a person, in steps of 0..255. */
const [SURELY_STREET, SURELY_PERSON] = [18, 42];
const STREET_SAMPLES = 15;
/** Whose outlines come out whole; the others stand before what the empty street shows of themselves, or are tiny. */
const WALKERS = ['redSleeves', 'fairHair', 'jeans', 'blackCoat'];
/** The sign in the middle of the clip hides whoever passes behind. */
const SIGN = { left: 405 / 768, right: 455 / 768 };

/** Those who walk through the clip, while they touch nobody else. */
export function cutWalkers(clip: Clip): Walker[] {
  const street = emptyStreet(clip);
  return WALKERS.map((name) => {
    const seen = clip.people.flatMap((people, picture) => {
      const one = people.find(({ id }) => clip.names[id] === name);
      return one && isAlone(one, people) ? [{ picture, bbox: one.bbox }] : [];
    });
    const steps = seen.map(({ picture, bbox }) => cutOut(clip.pictures[picture], street, bbox));
    const isRightward = (seen.at(-1)?.bbox.cx ?? 0) > (seen[0]?.bbox.cx ?? 0);
    return { steps, isRightward };
  });
}

function isAlone(one: Labelled, people: Labelled[]): boolean {
  const { bbox } = one;
  const isInside = Math.abs(bbox.cx - 0.5) + bbox.width / 2 < 0.495 && bbox.cy + bbox.height / 2 < 0.99;
  const isHidden = bbox.cx + bbox.width / 2 > SIGN.left && bbox.cx - bbox.width / 2 < SIGN.right;
  return (
    isInside &&
    !isHidden &&
    !people.some(
      (other) =>
        other.id !== one.id &&
        Math.abs(other.bbox.cx - bbox.cx) < (other.bbox.width + bbox.width) * 0.55 &&
        Math.abs(other.bbox.cy - bbox.cy) < (other.bbox.height + bbox.height) * 0.55,
    )
  );
}

/** The middle of what each pixel was: who walks is gone, who stands stays. */
function emptyStreet({ pictures, width, height }: Clip): Uint8Array {
  const samples = Array.from(
    { length: STREET_SAMPLES },
    (_, index) => pictures[Math.floor((index * pictures.length) / STREET_SAMPLES)]?.data ?? new Uint8Array(),
  );
  const street = new Uint8Array(width * height * 3);
  const values = new Uint8Array(STREET_SAMPLES);
  for (let at = 0; at < street.length; at += 1) {
    samples.forEach((data, index) => (values[index] = data[at] ?? 0));
    values.sort();
    street[at] = values[STREET_SAMPLES >> 1] ?? 0;
  }
  return street;
}

function cutOut(picture: RgbImage | undefined, street: Uint8Array, box: Labelled['bbox']): Cutout {
  if (!picture) throw new Error('the clip is shorter than its annotation');
  const [left, top] = [
    Math.round((box.cx - box.width / 2) * picture.width),
    Math.round((box.cy - box.height / 2) * picture.height),
  ];
  const [width, height] = [Math.round(box.width * picture.width), Math.round(box.height * picture.height)];
  const difference = (x: number, y: number) => {
    const at = ((top + y) * picture.width + left + x) * 3;
    return Math.max(
      ...[0, 1, 2].map((channel) => Math.abs((picture.data[at + channel] ?? 0) - (street[at + channel] ?? 0))),
    );
  };
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      // The mean of a pixel and its neighbours: edges become soft, and lone pixels vanish.
      let sum = 0;
      for (let dy = -1; dy <= 1; dy += 1) for (let dx = -1; dx <= 1; dx += 1) sum += difference(x + dx, y + dy);
      const share = (sum / 9 - SURELY_STREET) / (SURELY_PERSON - SURELY_STREET);
      const from = ((top + y) * picture.width + left + x) * 3;
      const to = (y * width + x) * 4;
      data.set(picture.data.subarray(from, from + 3), to);
      data[to + 3] = 255 * Math.min(1, Math.max(0, share));
    }
  }
  return { width, height, data };
}
