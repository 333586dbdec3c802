const KEY = 'billing-console-theme';

type Theme = 'light' | 'dark';

function stored(): Theme | null {
  try {
    const text = localStorage.getItem(KEY);
    return text === 'light' || text === 'dark' ? text : null;
  } catch {
    return null; // The browser denies access to the storage.
  }
}

/** Applies the theme that the user has chosen before. Without a choice, the theme of the browser applies. */
export function applyStoredTheme(): void {
  const theme = stored();
  if (theme !== null) document.documentElement.dataset['theme'] = theme;
}

export function flipTheme(): void {
  const { dataset } = document.documentElement;
  const preferred: Theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const theme: Theme = (dataset['theme'] ?? preferred) === 'dark' ? 'light' : 'dark';
  dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}
