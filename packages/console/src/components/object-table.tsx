import type { JSX } from 'preact';
import type { Shown } from '../lib/boxes.ts';
import { score, short } from '../lib/format.ts';
import { t } from '../strings.ts';

interface ObjectTableProps {
  caption: string;
  objects: readonly Shown[];
  empty: string;
  most?: number;
}

/** The objects that are drawn, in words. */
export function ObjectTable({ caption, objects, empty, most = 100 }: ObjectTableProps): JSX.Element {
  return (
    <table class="objects">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{t.objects.label}</th>
          <th scope="col" class="number">
            {t.objects.score}
          </th>
          <th scope="col">{t.objects.place}</th>
        </tr>
      </thead>
      <tbody>
        {objects.length === 0 ? (
          <tr>
            <td colSpan={3} class="dim">
              {empty}
            </td>
          </tr>
        ) : null}
        {objects.slice(0, most).map((object, index) => (
          <tr key={object.track_id ?? index}>
            <td>
              <bdi>{short(object.label, 40)}</bdi>
            </td>
            <td class="number">{score(object.score)}</td>
            <td>{t.objects.at(object.bbox.cx, object.bbox.cy)}</td>
          </tr>
        ))}
        {objects.length > most ? (
          <tr>
            <td colSpan={3} class="dim">
              {t.objects.more(objects.length - most)}
            </td>
          </tr>
        ) : null}
      </tbody>
    </table>
  );
}
