import type { RgbImage } from '../../services/inference/src/domain/rgb-image.ts';
import { forest, FPS, hall, kiln, night, streetBackground, yard } from './backgrounds.ts';
import type { Background } from './backgrounds.ts';
import { film, randomCamera } from './camera.ts';
import { drawFlame, randomFlame } from './flames.ts';
import { randomOf } from './noise.ts';
import { drawPlume, randomPlume } from './plumes.ts';
import type { Truth } from './truth.ts';
import { disguises } from './without-fire.ts';

export const halves = ['fit', 'report', 'check'] as const;
export type Half = (typeof halves)[number];

/** One frame as the camera gives it, and what is in it. */
interface ClipFrame {
  timeMs: number;
  image: RgbImage;
  truth: Truth[];
}

export interface Clip {
  name: string;
  /** What burns in it; undefined when nothing does. */
  burns: 'fire' | 'smoke' | undefined;
  seconds: number;
  frames(): AsyncGenerator<ClipFrame, void>;
}

type Draw = (canvas: ReturnType<Background>, time: number) => Truth[];

const FIRST_SEED: Record<Half, number> = { fit: 1000, report: 5000, check: 9000 };
const FIRE_SECONDS = 12;
const SMOKE_SECONDS = 16;
const CALM_SECONDS = 20;

/**
 * The clips of one half. Halves share neither a seed nor a background; `check` has seeds of its own, of which no rule
 * and no bound was chosen, at the places of both. `each` is the number of each kind.
 */
export function clipsOf(half: Half, street: readonly Uint8Array[], each: number): Clip[] {
  const places = placesOf(half, street);
  const clips: Clip[] = [];
  let seed = FIRST_SEED[half];
  const add = (name: string, burns: Clip['burns'], seconds: number, draw: (random: () => number) => Draw) => {
    seed += 1;
    const [place, background] = places[clips.length % places.length] as [string, Background];
    clips.push(clipOf({ name: `${name} at ${place}`, burns, seconds }, { seed, background, draw }));
  };
  for (let index = 0; index < each * 6; index += 1) {
    add('fire', 'fire', FIRE_SECONDS, (random) => {
      const flame = randomFlame(random, FIRE_SECONDS);
      return (canvas, time) => drawFlame(canvas, flame, time);
    });
    add('smoke', 'smoke', SMOKE_SECONDS, (random) => {
      const plume = randomPlume(random, SMOKE_SECONDS);
      return (canvas, time) => drawPlume(canvas, plume, time);
    });
  }
  for (const [name, disguise] of Object.entries(disguises)) {
    for (let index = 0; index < each; index += 1) {
      add(name, undefined, CALM_SECONDS, (random) => {
        const draw = disguise(random);
        return (canvas, time) => {
          draw(canvas, time);
          return [];
        };
      });
    }
  }
  return clips;
}

/** The example video as it is, over and over. */
export function streetLoop(street: readonly Uint8Array[], seconds: number): Clip {
  const whole: Background = (time) => {
    const frame = street[Math.round(time * FPS) % street.length] as Uint8Array;
    return { light: Float32Array.from(frame) };
  };
  const draw = () => () => [];
  return clipOf({ name: 'street.mp4 looped', burns: undefined, seconds }, { seed: 1, background: whole, draw });
}

function placesOf(half: Half, street: readonly Uint8Array[]): [string, Background][] {
  const middle = street.length >> 1;
  if (half === 'check') return [...placesOf('fit', street), ...placesOf('report', street)];
  return half === 'fit'
    ? [
        ['the street', streetBackground(street, 0, middle, 1)],
        ['the yard', yard],
        ['night', night],
        ['the street at dusk', streetBackground(street, 0, middle, 0.4)],
      ]
    : [
        ['the street', streetBackground(street, middle, street.length, 1)],
        ['the forest', forest],
        ['the hall', hall],
        ['the street at dusk', streetBackground(street, middle, street.length, 0.35)],
        ['the kiln', kiln],
      ];
}

function clipOf(
  about: Omit<Clip, 'frames'>,
  { seed, background, draw }: { seed: number; background: Background; draw: (random: () => number) => Draw },
): Clip {
  return {
    ...about,
    frames: async function* () {
      const random = randomOf(seed);
      const camera = randomCamera(random);
      const overlay = draw(random);
      for (let index = 0; index < about.seconds * FPS; index += 1) {
        const time = index / FPS;
        const canvas = background(time);
        const truth = overlay(canvas, time);
        yield { timeMs: Math.round(time * 1000), image: await film(canvas, camera, random), truth };
      }
    },
  };
}
