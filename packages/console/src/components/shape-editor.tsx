import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX, TargetedKeyboardEvent } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { inserted, insertionIndex, middleAfter, moved, pointAt, POINTS, removed } from '../lib/shape.ts';
import type { Point, ShapeKind } from '../lib/shape.ts';
import { t } from '../strings.ts';
import { ShapeDrawing } from './shape-drawing.tsx';

interface ShapeEditorProps {
  kind: ShapeKind;
  points: readonly Point[];
  /** Width of the image by its height. */
  aspect: number;
  onChange: (points: Point[]) => void;
  /** The image below the shape. */
  children: ComponentChildren;
}

const STEP = 0.01;
const LARGE_STEP = 0.05;

/** A polygon or a line on an image, drawn by mouse, by touch or by keyboard. Every corner is a button. */
export function ShapeEditor({ kind, points, aspect, onChange, children }: ShapeEditorProps): JSX.Element {
  const area = useRef<HTMLDivElement>(null);
  const { said, wanted, add, remove, move } = useShape({ kind, points, onChange });
  /** The corner that was used last: what a mouse or a finger can remove. */
  const chosen = useSignal<number | undefined>(undefined);
  // Before the next key is handled, which is meant for the corner that gets the focus.
  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    area.current?.querySelectorAll<HTMLElement>('.corner')[wanted.current]?.focus();
    wanted.current = undefined;
  }, [points]);
  const pointOf = (event: PointerEvent): Point => {
    const { left, top, width, height } = (area.current ?? document.body).getBoundingClientRect();
    return pointAt((event.clientX - left) / Math.max(1, width), (event.clientY - top) / Math.max(1, height));
  };
  const isLine = kind === 'line';
  const press = (event: PointerEvent) => {
    if (isLine || event.button !== 0 || (event.target as Element).closest('.corner')) return;
    event.preventDefault();
    add(insertionIndex(points, pointOf(event)), pointOf(event));
  };
  return (
    <div class="shape" role="group" aria-label={t.shape[kind]}>
      <p class="hint">
        {isLine ? t.shape.lineMouseHint : t.shape.mouseHint} {isLine ? t.shape.lineKeyHint : t.shape.keyHint}
      </p>
      <p class="hint shape-said" role="status">
        {said}
      </p>
      <div ref={area} class="shape-area stage" style={{ aspectRatio: String(aspect) }} onPointerDown={press}>
        {children}
        <ShapeDrawing kind={kind} points={points} aspect={aspect} />
        {points.map((point, index) => (
          <Corner
            key={index}
            name={nameOf(kind, points, index)}
            index={index}
            point={point}
            onMove={(to) => move(index, to)}
            onAdd={() => add(index + 1, middleAfter(points, index))}
            onRemove={() => remove(index)}
            onChosen={() => (chosen.value = index)}
            isChosen={!isLine && chosen.value === index}
            pointOf={pointOf}
          />
        ))}
      </div>
      {isLine ? null : (
        <RemoveButton
          index={chosen.value !== undefined && chosen.value < points.length ? chosen.value : undefined}
          isOff={points.length <= POINTS.polygon.least}
          onRemove={() => remove(chosen.value ?? 0)}
        />
      )}
    </div>
  );
}

interface RemoveButtonProps {
  index: number | undefined;
  isOff: boolean;
  onRemove: () => void;
}

/** Corners have keys to remove them; a mouse and a finger have this. */
function RemoveButton({ index, isOff, onRemove }: RemoveButtonProps): JSX.Element {
  return (
    <p>
      <button type="button" disabled={isOff || index === undefined} onClick={onRemove}>
        {index === undefined ? t.shape.remove : t.shape.removeOne(index + 1)}
      </button>
    </p>
  );
}

const placeOf = ([x, y]: Point) => t.objects.at(x, y);

function nameOf(kind: ShapeKind, points: readonly Point[], index: number): string {
  const place = placeOf(points[index] ?? [0, 0]);
  return kind === 'line' ? t.shape.linePoint(index + 1, place) : t.shape.point(index + 1, points.length, place);
}

/** Changes of a shape, each said to screen readers. */
function useShape({ kind, points, onChange }: Pick<ShapeEditorProps, 'kind' | 'points' | 'onChange'>) {
  const said = useSignal('');
  /** The corner that gets the focus once it is there. */
  const wanted = useRef<number | undefined>(undefined);
  const { least, most } = POINTS[kind];
  const add = (index: number, point: Point) => {
    if (points.length >= most) {
      said.value = kind === 'polygon' ? t.shape.most(most) : '';
      return;
    }
    wanted.current = index;
    said.value = t.shape.added(index + 1, points.length + 1);
    onChange(inserted(points, index, point));
  };
  const remove = (index: number) => {
    if (points.length <= least) {
      said.value = kind === 'polygon' ? t.shape.least(least) : '';
      return;
    }
    wanted.current = Math.max(0, index - 1);
    said.value = t.shape.removed(points.length - 1);
    onChange(removed(points, index));
  };
  const move = (index: number, to: Point) => {
    const next = moved(points, index, to);
    said.value = nameOf(kind, next, index);
    onChange(next);
  };
  return { said: said.value, wanted, add, remove, move };
}

interface CornerProps {
  name: string;
  index: number;
  point: Point;
  onMove: (to: Point) => void;
  onAdd: () => void;
  onRemove: () => void;
  onChosen: () => void;
  isChosen: boolean;
  pointOf: (event: PointerEvent) => Point;
}

function Corner(props: CornerProps): JSX.Element {
  const { name, index, point, onMove, onAdd, onRemove, onChosen, isChosen, pointOf } = props;
  const [x, y] = point;
  const press = (event: TargetedKeyboardEvent<HTMLButtonElement>) => {
    const step = event.shiftKey ? LARGE_STEP : STEP;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => onMove(pointAt(x - step, y)),
      ArrowRight: () => onMove(pointAt(x + step, y)),
      ArrowUp: () => onMove(pointAt(x, y - step)),
      ArrowDown: () => onMove(pointAt(x, y + step)),
      Enter: onAdd,
      ' ': onAdd,
      Delete: onRemove,
      Backspace: onRemove,
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const corner = event.currentTarget;
    action();
    // A key may move it out of the part of the page that is seen; a pointer cannot.
    requestAnimationFrame(() => corner.scrollIntoView({ block: 'nearest' }));
  };
  return (
    <button
      type="button"
      class={isChosen ? 'corner chosen' : 'corner'}
      style={{ left: `${x * 100}%`, top: `${y * 100}%` }}
      aria-label={name}
      onKeyDown={press}
      onFocus={onChosen}
      onPointerDown={(event) => {
        // Not every browser gives the focus to a button that is pressed.
        onChosen();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onMove(pointOf(event));
      }}
    >
      {index + 1}
    </button>
  );
}
