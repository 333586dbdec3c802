import { useBlocker } from '@tanstack/react-router';
import { toast } from './toast';

/**
 * Keeps the page open while the reason is a text: shows the reason if the user chooses another page, and asks before a
 * reload.
 */
export function useStay(reason: string | null): void {
  useBlocker({
    shouldBlockFn: () => {
      if (reason !== null) toast(reason);
      return true;
    },
    disabled: reason === null,
  });
}
