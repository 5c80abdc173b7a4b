import type { JSX } from 'preact';
import { TroubleNotice } from '../components/notice.tsx';
import { When } from '../components/when.tsx';
import { inUtc, moment, percent, position } from '../lib/format.ts';
import { t } from '../strings.ts';
import { stateText } from './away-text.ts';
import type { Source, TaskView } from './task-view.ts';

/** How the camera is, or how far the video has been read. */
export function SourcePanel({ view }: { view: TaskView }): JSX.Element {
  const source = view.source.value.value;
  return (
    <section class="panel" aria-labelledby="source">
      <h2 id="source">{t.source.title}</h2>
      <TroubleNotice trouble={view.source.trouble.value} />
      {source ? <SourceFacts source={source} /> : <p class="dim">{t.loading}</p>}
    </section>
  );
}

function SourceFacts({ source }: { source: Source }): JSX.Element {
  return (
    <>
      <p role="status" title={inUtc(source.since_ms)}>
        {source.state === 'ended'
          ? t.source.endedAt(moment(source.since_ms))
          : t.source.since(stateText(source), moment(source.since_ms))}{' '}
        {source.is_behind === true ? t.source.behind : ''}
      </p>
      <dl class="facts">
        {factsOf(source).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'number' ? <When ms={value} /> : value}</dd>
          </div>
        ))}
      </dl>
      {source.items.length > 0 ? <History items={source.items} /> : null}
    </>
  );
}

/** What is known of a source; numbers are moments. */
function factsOf(source: Source): [string, string | number][] {
  const { codec, image, sample_fps: wanted, measured_fps: measured, frames, reconnects, coverage } = source;
  const { away_since_ms: awayMs, gives_up_at_ms: endMs } = source;
  const dropped = frames.dropped && Object.values(frames.dropped).reduce((sum, count) => sum + count, 0);
  const length = coverage.to_ms - coverage.from_ms;
  const facts: [string, string | number | undefined][] = [
    [t.source.codec, codec],
    [t.source.size, image && `${image.width} × ${image.height}`],
    [t.source.rate, wanted === undefined ? undefined : t.source.rateOf(measured, wanted)],
    [t.source.stored, frames.stored.toLocaleString('en')],
    [t.source.dropped, dropped?.toLocaleString('en')],
    [t.source.reconnects, source.kind === 'stream' ? reconnects?.toLocaleString('en') : undefined],
    [t.source.coverage, source.kind === 'stream' && length > 0 ? percent(coverage.covered_ms / length) : undefined],
    source.state === 'ended' ? [t.source.length, lengthOf(source)] : [t.source.progress, progressOf(source)],
    [t.source.awaySince, awayMs],
    [t.source.givesUpAt, endMs],
  ];
  return facts.filter((fact): fact is [string, string | number] => fact[1] !== undefined);
}

const lengthOf = ({ duration_ms: length }: Source) => (length === undefined ? undefined : position(length));

function progressOf(source: Source): string | undefined {
  const { kind, duration_ms: length, last_frame_time_ms: at } = source;
  if (kind !== 'upload' || length === undefined) return undefined;
  return t.source.progressOf(position(at ?? 0), position(length));
}

function History({ items }: { items: Source['items'] }): JSX.Element {
  return (
    <details>
      <summary>{t.source.history}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">{t.source.when}</th>
            <th scope="col">{t.source.state}</th>
            <th scope="col">{t.source.reason}</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={`${item.at_ms} ${item.state}`}>
              <td title={inUtc(item.at_ms)}>{moment(item.at_ms)}</td>
              <td>{t.source.states[item.state]}</td>
              <td>{item.reason ? t.source.reasons[item.reason] : ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
