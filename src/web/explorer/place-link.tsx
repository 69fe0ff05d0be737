import type { Place } from "./catalog-index.ts";
import { formatPermalink, parsePermalink } from "./permalink.ts";
import { placeName, selectionOf } from "./places.ts";
import { textDirection } from "./text-direction.ts";

interface Props {
  readonly place: Place;
  /** Locale of region names. */
  readonly locale: string;
  readonly onSelect: (place: Place) => void;
}

/** A link to a place. It opens in place unless the browser is told otherwise. */
export function PlaceLink({ place, locale, onSelect }: Props) {
  const { call } = parsePermalink(window.location.search);
  const href = `/${formatPermalink({ call, selection: selectionOf(place) })}`;
  const onClick = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    onSelect(place);
  };
  const isRegion = place.kind === "region";
  return (
    <a href={href} onClick={onClick}>
      <bdi {...(isRegion ? { lang: locale, dir: textDirection(locale) } : {})}>
        {placeName(place)}
      </bdi>
    </a>
  );
}
