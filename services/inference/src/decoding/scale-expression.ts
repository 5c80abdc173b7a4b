import { aspectRanges } from '../domain/frame-fit.ts';
import type { FrameFit } from '../domain/frame-fit.ts';

/**
 * The size that `fitTo` gives, in the language of ffmpeg's filters: a live source is scaled straight to what its
 * detector wants, and its size is known to ffmpeg only.
 */
export function scaleExpression(fit: FrameFit): string {
  if (fit.kind === 'longest_side') {
    const side = (name: string) => `max(1,round(${name}*min(1,${fit.side}/max(iw,ih))))`;
    return `w='${side('iw')}':h='${side('ih')}'`;
  }
  const width = sideOfShape(fit, 0);
  const height = sideOfShape(fit, 1);
  if (fit.resize === 'stretch') return `w='${width}':h='${height}'`;
  const side = (name: string, limit: string) => `min(${limit},max(1,round(${name}*min((${width})/iw,(${height})/ih))))`;
  return `w='${side('iw', width)}':h='${side('ih', height)}'`;
}

/** Width (0) or height (1) of the shape for the aspect of the source. */
function sideOfShape({ shapes }: Extract<FrameFit, { kind: 'shapes' }>, index: 0 | 1): string {
  return aspectRanges(shapes).reduceRight(
    (wider, { shape, below }) =>
      wider === '' ? String(shape[index]) : `if(lt(iw/ih,${below}),${shape[index]},${wider})`,
    '',
  );
}
