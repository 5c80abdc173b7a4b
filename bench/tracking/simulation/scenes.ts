import { createBody } from './world.ts';
import type { Body, Camera, Manner } from './world.ts';
import type { Chance } from './chance.ts';

/** A post or a sign in front of whatever stands behind its foot. */
export interface Post {
  left: number;
  right: number;
  top: number;
  bottom: number;
  foot: number;
}

export interface Scene {
  name: string;
  label: string;
  seconds: number;
  camera: Camera;
  posts: Post[];
  /** Deviation of the camera's shaking in parts of the picture's height. */
  shake: number;
  bodies: Body[];
}

const SECONDS = 30;
const CAMERA: Camera = { aspect: 4 / 3, heightAtTop: 0.08, heightAtBottom: 0.26 };
const STROLL: Manner = { swerve: 0.25, pauses: 0.03 };
const WALK_SPEED = 1.35;

type Start = Omit<Body, 'move' | 'id' | 'height' | 'width'>;

function person(chance: Chance, id: number, start: Start, manner = STROLL): Body {
  const height = 1.7 + chance.normal(0.08);
  return createBody(chance, CAMERA, { ...start, id, height, width: height * chance.between(0.32, 0.42) }, manner);
}

/** Someone who comes in at the left or right edge, or stands in the picture already, and crosses it. */
function passer(chance: Chance, id: number, from: number): Body {
  const isRight = chance.happens(0.5);
  const x = from > 0 ? (isRight ? -0.03 : 1.03) : chance.between(0.05, 0.95);
  const speed = Math.max(0.5, WALK_SPEED + chance.normal(0.25));
  const right = (isRight ? 1 : -1) * speed;
  return person(chance, id, { x, y: chance.between(0.35, 0.95), right, near: chance.normal(0.4), from, to: SECONDS });
}

const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));

const scene = (name: string, bodies: Body[], more: Partial<Scene> = {}): Scene => ({
  name,
  label: 'person',
  seconds: SECONDS,
  camera: CAMERA,
  posts: [],
  shake: 0,
  bodies,
  ...more,
});

/** The scenes of one seed. */
export function scenes(chance: Chance): Scene[] {
  const passers = (count: number, at: (index: number) => number) =>
    many(count, (index) => passer(chance, index, at(index)));
  const early = () => Math.max(0, chance.between(-8, 22));
  return [
    scene('sparse street', passers(8, early)),
    scene('crossings', crossings(chance)),
    scene('behind posts', passers(8, early), {
      posts: many(3, (index) => {
        const left = 0.2 + 0.25 * index + chance.between(-0.05, 0.05);
        return { left, right: left + chance.between(0.03, 0.07), top: 0, bottom: 1, foot: 1 };
      }),
    }),
    scene('waiting by a sign', waiting(chance), {
      posts: [{ left: 0.47, right: 0.52, top: 0.35, bottom: 0.52, foot: 0.6 }],
    }),
    scene('groups', groups(chance)),
    scene(
      'dense crowd',
      passers(34, () => Math.max(0, chance.between(-20, 20))),
    ),
    scene('coming and going', comers(chance)),
    scene('shaking camera', passers(8, early), { shake: 0.008 }),
    scene('fast vehicles', vehicles(chance), { label: 'car' }),
  ];
}

/** Two rows that walk through each other on nearly the same line. */
function crossings(chance: Chance): Body[] {
  return many(12, (id) => {
    const isRight = id % 2 === 0;
    const from = Math.floor(id / 2) * chance.between(2.5, 4);
    const right = (isRight ? 1 : -1) * (WALK_SPEED + chance.normal(0.2));
    const y = 0.65 + chance.normal(0.03);
    return person(chance, id, { x: isRight ? -0.02 : 1.02, y, right, near: 0, from, to: SECONDS });
  });
}

/** People side by side, as far apart as friends walk. */
function groups(chance: Chance): Body[] {
  return many(4, (group) => {
    const isRight = chance.happens(0.5);
    const from = group * chance.between(2, 5);
    const y = chance.between(0.4, 0.9);
    const right = (isRight ? 1 : -1) * (WALK_SPEED + chance.normal(0.2));
    return many(3, (index) =>
      person(
        chance,
        group * 3 + index,
        {
          x: (isRight ? -0.03 : 1.03) - (isRight ? 1 : -1) * chance.between(0, 0.03),
          y: y + index * 0.035 + chance.normal(0.005),
          right: right + chance.normal(0.04),
          near: chance.normal(0.03),
          from,
          to: SECONDS,
        },
        { swerve: 0.08, pauses: 0 },
      ),
    );
  }).flat();
}

/** People who stand around and walk a few steps, some of them half behind a sign for long. */
function waiting(chance: Chance): Body[] {
  return many(7, (id) => {
    const angle = chance.between(0, 2 * Math.PI);
    const start = {
      x: chance.between(0.38, 0.62),
      y: chance.between(0.5, 0.62),
      right: 0.7 * Math.cos(angle),
      near: 0.7 * Math.sin(angle),
      from: chance.between(0, 8),
      to: SECONDS,
    };
    return person(chance, id, start, { swerve: 1.2, pauses: 0.4 });
  });
}

/** Doors: people appear in the middle of the picture and disappear there a few seconds later. */
function comers(chance: Chance): Body[] {
  const doors = many(4, () => ({ x: chance.between(0.15, 0.85), y: chance.between(0.4, 0.85) }));
  return many(24, (id) => {
    const door = doors[Math.floor(chance.even() * doors.length)] ?? { x: 0.5, y: 0.5 };
    const from = chance.between(0, SECONDS - 3);
    const angle = chance.between(0, 2 * Math.PI);
    const [right, near] = [WALK_SPEED * Math.cos(angle), WALK_SPEED * Math.sin(angle)];
    return person(chance, id, { ...door, right, near, from, to: from + chance.between(2, 6) });
  });
}

/** Two lanes of cars at 25 to 55 km/h. */
function vehicles(chance: Chance): Body[] {
  const manner: Manner = { swerve: 0.01, pauses: 0 };
  const camera = { ...CAMERA, heightAtTop: 0.05, heightAtBottom: 0.16 };
  return many(14, (id) => {
    const isRight = id % 2 === 0;
    const start = {
      x: isRight ? -0.1 : 1.1,
      y: (isRight ? 0.75 : 0.55) + chance.normal(0.01),
      right: (isRight ? 1 : -1) * chance.between(7, 15),
      near: 0,
      from: Math.floor(id / 2) * chance.between(1.5, 3.5),
      to: SECONDS,
    };
    return createBody(chance, camera, { ...start, id, height: 1.5, width: chance.between(3.6, 4.8) }, manner);
  });
}
