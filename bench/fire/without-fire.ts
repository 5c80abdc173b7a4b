import type { Disguise, Random } from './disguise.ts';
import { autumn, flag, redCars, vests } from './flame-coloured.ts';
import { beacons, blinkingLamps, headlights, steadyLamps, sunset } from './lights.ts';
import { clouds, fog, greyTraffic, lightSteps, pans } from './smoke-like.ts';

const nothing = (): Disguise => () => undefined;

/** By name, each from its own random numbers. */
export const disguises: Record<string, (random: Random) => Disguise> = {
  nothing,
  'steady lamps': steadyLamps,
  'blinking lamps': blinkingLamps,
  beacons,
  'red cars': redCars,
  vests,
  'autumn leaves': autumn,
  sunset,
  headlights,
  flag,
  fog,
  clouds,
  'grey traffic': greyTraffic,
  'light steps': lightSteps,
  pans,
};
