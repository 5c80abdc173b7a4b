import type { components } from '@vision/client';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { isWanted } from '../lib/boxes.ts';
import type { Filter } from '../lib/boxes.ts';
import { t } from '../strings.ts';
import { BoxLayer } from './box-layer.tsx';
import { ObjectTable } from './object-table.tsx';

interface ImageResultProps {
  name: string;
  /** Undefined for a call whose images are not here. */
  url: string | undefined;
  /** Undefined before the call. */
  result: components['schemas']['ImageResult'] | undefined;
  filter: Filter;
}

/** One image with its objects, drawn and in words. */
export function ImageResult({ name, url, result, filter }: ImageResultProps): JSX.Element {
  const { minScore, hidden } = filter;
  const objects = useMemo(
    () => (result?.status === 'succeeded' ? result.objects.filter((object) => isWanted(object, filter)) : []),
    [result, minScore, hidden],
  );
  return (
    <figure>
      {url === undefined ? null : (
        <div class="image">
          <img src={url} alt={name} />
          <BoxLayer objects={objects} />
        </div>
      )}
      <figcaption>
        <bdi>{name}</bdi>
      </figcaption>
      {result?.status === 'failed' ? <p class="fault-text">{t.images.failed}</p> : null}
      {result?.status === 'succeeded' ? (
        <ObjectTable caption={t.images.objectsIn(name)} objects={objects} empty={t.images.none} />
      ) : null}
    </figure>
  );
}
