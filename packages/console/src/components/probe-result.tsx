import type { components } from '@vision/client';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { useUrls } from '../state/use-urls.ts';
import { t } from '../strings.ts';
import { BoxLayer } from './box-layer.tsx';
import { Notice } from './notice.tsx';
import { ObjectTable } from './object-table.tsx';

/** What a stream shows now: its newest frame with the objects in it, or why there is none. */
export function ProbeResult({ probe }: { probe: components['schemas']['StreamProbe'] }): JSX.Element {
  const { codec, image, fps, snapshot, objects, capacity, problem } = probe;
  const files = useMemo(() => (snapshot ? [fileOf(snapshot)] : []), [snapshot]);
  const [url] = useUrls(files);
  const facts = [
    codec && { name: t.newStream.facts.codec, value: codec },
    image && { name: t.newStream.facts.size, value: `${image.width} × ${image.height}` },
    fps !== undefined && { name: t.newStream.facts.fps, value: String(Math.round(fps * 10) / 10) },
  ].filter((fact) => typeof fact === 'object');
  return (
    <section class="results" aria-live="polite">
      {problem ? (
        <Notice kind="fault" title={t.newStream.noFrame}>
          <p>{problem.advice}</p>
        </Notice>
      ) : (
        <Notice kind="info" title={t.newStream.found}>
          <p>{t.newStream.foundObjects(objects?.length ?? 0)}</p>
        </Notice>
      )}
      {capacity === 'none' ? <Notice kind="fault" title={t.newStream.capacityNone} /> : null}
      {facts.length > 0 ? (
        <dl class="facts">
          {facts.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      ) : null}
      {url === undefined ? null : (
        <figure>
          <div class="image">
            <img src={url} alt={t.task.live} />
            <BoxLayer objects={objects ?? []} />
          </div>
          <ObjectTable caption={t.objects.inView} objects={objects ?? []} empty={t.objects.none} />
        </figure>
      )}
      {!problem && url === undefined ? <p class="dim">{t.newStream.noSnapshot}</p> : null}
    </section>
  );
}

const fileOf = ({ data, media_type: type }: { data: string; media_type: string }) =>
  new Blob([Uint8Array.from(atob(data), (character) => character.charCodeAt(0))], { type });
