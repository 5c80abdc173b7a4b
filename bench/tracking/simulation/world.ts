import { createWander } from './chance.ts';
import type { Chance } from './chance.ts';

/**
 * A street seen from above at an angle. Places are the foot point of a thing in parts of the picture; lengths become
 * metres by the height that a person has there.
 */
export interface Camera {
  /** Width of the picture over its height. */
  aspect: number;
  /** Height of a person in parts of the picture, at its upper and lower edge. */
  heightAtTop: number;
  heightAtBottom: number;
}

export interface Body {
  id: number;
  /** Metres. */
  height: number;
  width: number;
  /** Foot point in parts of the picture. */
  x: number;
  y: number;
  /** Metres a second to the right and towards the camera. */
  right: number;
  near: number;
  /** When it comes and goes, in seconds. */
  from: number;
  to: number;
  move: (seconds: number) => void;
}

const PERSON_METRES = 1.7;
/** Metres away from the camera look this much shorter than metres across. */
const FORESHORTENED = 0.5;

const heightAt = (camera: Camera, y: number): number =>
  Math.max(0.02, camera.heightAtTop + (camera.heightAtBottom - camera.heightAtTop) * y);

/** The box of a body in parts of the picture; it may reach beyond the picture. */
export function boxOfBody(camera: Camera, { x, y, height, width }: Body) {
  const metre = heightAt(camera, y) / PERSON_METRES;
  return { cx: x, cy: y - (height * metre) / 2, width: (width * metre) / camera.aspect, height: height * metre };
}

/** What a body does by itself; `swerve` is how much its direction wanders, `pauses` how often it stands still. */
export interface Manner {
  swerve: number;
  pauses: number;
}

export function createBody(
  chance: Chance,
  camera: Camera,
  start: Omit<Body, 'move'>,
  { swerve, pauses }: Manner,
): Body {
  const turn = createWander(chance, swerve, 2);
  const pace = createWander(chance, 0.08, 1.5);
  let standsFor = 0;
  const body: Body = {
    ...start,
    move: (seconds) => {
      standsFor -= seconds;
      if (standsFor <= 0 && chance.happens(pauses * seconds)) standsFor = chance.between(0.5, 4);
      const angle = turn(seconds);
      const speed = standsFor > 0 ? 0 : 1 + pace(seconds);
      const metre = heightAt(camera, body.y) / PERSON_METRES;
      const right = (body.right * Math.cos(angle) - body.near * Math.sin(angle)) * speed;
      const near = (body.near * Math.cos(angle) + body.right * Math.sin(angle)) * speed;
      body.x += (right * seconds * metre) / camera.aspect;
      body.y += near * seconds * metre * FORESHORTENED;
    },
  };
  return body;
}
