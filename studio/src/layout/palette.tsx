import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { api, read } from '../api/client';
import { showCode } from '../format/text';
import { Problem } from '../ui/page';
import { useAccess } from './access';
import { NAVIGATION } from './navigation';
import { pageOfId } from './object-pages';

interface Entry {
  readonly to: string;
  readonly label: string;
  readonly hint: string;
}

const folded = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Searches the types of objects that have a page. */
async function search(text: string): Promise<readonly Entry[]> {
  const found = await read(api.GET('/v1/search', { params: { query: { q: text } } }));
  return found.data.flatMap(({ id, type, title, detail }) => {
    const to = pageOfId(id);
    return to === null ? [] : [{ to, label: title, hint: detail ?? showCode(type) }];
  });
}

interface Found {
  readonly entries: readonly Entry[];
  readonly isLoading: boolean;
  readonly error: unknown;
}

/** Returns the entries for this text only, never entries for an earlier text, because Enter opens the first entry. */
function useEntries(text: string): Found {
  const wanted = text.trim();
  const mayRead = useAccess();
  const results = useQuery({
    queryKey: ['search', wanted],
    enabled: wanted.length > 1,
    queryFn: () => search(wanted),
  });
  const page = pageOfId(wanted);
  if (page !== null) {
    const entries = [{ to: page, label: wanted, hint: 'Open this id' }];
    return { entries, isLoading: false, error: null };
  }
  const destinations = NAVIGATION.flatMap(([, pages]) => pages)
    .filter(({ label, needs }) => mayRead(needs) && folded(label).includes(folded(wanted)))
    .map(({ to, label }) => ({ to, label, hint: 'Page' }));
  const { data = [], isLoading, error } = results;
  return { entries: [...data, ...destinations], isLoading, error };
}

/** Key code of every key that belongs to an input method. */
const INPUT_METHOD_KEY = 229;

const entryId = (index: number): string => `palette-entry-${index}`;

/** A dialog with a combobox that finds objects by name, email, number or id, and pages by name. */
export function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  /** Address of the entry that arrow keys or the mouse selected; null: the first entry is selected. */
  const [chosen, setChosen] = useState<string | null>(null);
  const navigate = useNavigate();
  const { entries, isLoading, error } = useEntries(text);
  const selected = Math.max(
    0,
    entries.findIndex(({ to }) => to === chosen),
  );
  useEffect(() => {
    document.getElementById(entryId(selected))?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const open = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    void navigate({ to: entry.to });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // The key belongs to an input method, such as the Enter that confirms Japanese characters.
    if (event.nativeEvent.isComposing) return;
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- Safari ends the composition before this key
    if (event.keyCode === INPUT_METHOD_KEY) return;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen(entries.at((selected + step) % Math.max(1, entries.length))?.to ?? null);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      open(entries[selected]);
    }
  };
  return (
    <dialog
      ref={ref}
      className="palette"
      aria-label="Search or jump to"
      onCancel={onClose}
      onClick={({ target }) => {
        if (target === ref.current) onClose();
      }}
    >
      <input
        role="combobox"
        aria-label="Search or jump to"
        aria-expanded={entries.length > 0}
        aria-controls="palette-entries"
        aria-autocomplete="list"
        aria-activedescendant={entries.length > 0 ? entryId(selected) : undefined}
        autoComplete="off"
        placeholder="A name, an email, a number, an id or a page"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setChosen(null);
        }}
        onKeyDown={onKeyDown}
      />
      <Problem error={error} />
      {isLoading && <p role="status">Searching…</p>}
      {!isLoading && error === null && entries.length === 0 && <p role="status">Nothing found.</p>}
      <ul id="palette-entries" role="listbox" aria-label="Results" hidden={entries.length === 0}>
        {entries.map((entry, index) => (
          <li
            key={entry.to}
            id={entryId(index)}
            role="option"
            aria-selected={index === selected}
            onPointerMove={() => setChosen(entry.to)}
            onClick={() => open(entry)}
          >
            <span>{entry.label}</span>
            <span>{entry.hint}</span>
          </li>
        ))}
      </ul>
    </dialog>
  );
}
