// Loads the libraries of ./vendor, each once; they are scripts that set a global name.

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
