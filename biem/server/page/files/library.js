// Loads a library of ./vendor once; these are scripts that set a global name.

const loading = new Map();

/** The global that a script of ./vendor defines. */
export function library(file, name) {
  if (!loading.has(file)) {
    loading.set(file, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `/page/vendor/${file}`;
      script.onload = () => resolve(globalThis[name]);
      script.onerror = () => reject(new Error(`${file}?`));
      document.head.append(script);
    }));
  }
  return loading.get(file);
}

/** A colour of the style sheet. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
