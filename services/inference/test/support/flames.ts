import sharp from 'sharp';
import type { Sharp } from 'sharp';

/** A drawn flame on black: an orange glow that turbulence tears. */
const flame = `<svg xmlns="http://www.w3.org/2000/svg" width="416" height="416"><defs><radialGradient id="g" cx="50%" cy="80%">
<stop offset="0" stop-color="#fff8c0"/><stop offset=".35" stop-color="#ffb020"/><stop offset=".75" stop-color="#e03a00"/>
<stop offset="1" stop-color="#300800"/></radialGradient><filter id="t"><feTurbulence type="fractalNoise"
baseFrequency=".02 .012" numOctaves="4" seed="3"/><feDisplacementMap in="SourceGraphic" scale="90"/></filter></defs>
<rect width="416" height="416" fill="#0a0604"/><g filter="url(#t)"><ellipse cx="200" cy="280" rx="130" ry="150" fill="url(#g)"/>
<ellipse cx="150" cy="200" rx="40" ry="120" fill="url(#g)"/><ellipse cx="260" cy="190" rx="45" ry="130" fill="url(#g)"/></g></svg>`;

/** Drawn once at its own size: resized as a drawing, its turbulence would be computed for every pixel of the result. */
let drawn: Promise<Buffer> | undefined;

export async function drawnFlame(): Promise<Sharp> {
  drawn ??= sharp(Buffer.from(flame)).removeAlpha().png().toBuffer();
  return sharp(await drawn);
}
