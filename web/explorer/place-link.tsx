import type { Place } from "../../client/src/catalog.ts";
import { formatPermalink, NOWHERE, parsePermalink } from "./permalink.ts";
import { nameIn, selectionOf } from "./places.ts";
import { textDirection } from "./text-direction.ts";

interface Props {
  readonly place: Place;
  /** Locale of region names. */
  readonly locale: string;
  readonly onSelect: (place: Place) => void;
}

/** A link to a place. It opens on the same page, unless a modifier key asks for another tab. */
export function PlaceLink({ place, locale, onSelect }: Props) {
  const { call } = parsePermalink(window.location.search);
  const href = `/${formatPermalink({ ...NOWHERE, call, selection: selectionOf(place) })}`;
  const onClick = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    onSelect(place);
  };
  return (
    <a href={href} onClick={onClick}>
      <PlaceName place={place} locale={locale} />
    </a>
  );
}

/** The name of a place, in the locale of the answer where that has one. */
export function PlaceName({ place, locale }: Pick<Props, "place" | "locale">) {
  const name = nameIn(locale, place);
  const isLocal = place.kind !== "airport" && (place.kind !== "city" || name !== place.name);
  if (!isLocal) return <bdi>{name}</bdi>;
  return (
    <bdi lang={locale} dir={textDirection(locale)}>
      {name}
    </bdi>
  );
}
