"""A page in headless Chromium, driven over its own protocol by a pipe: no network, no driver to install.

    with Browser() as b:
        page = b.open("file:///tmp/run.html")       # until it has loaded
        page.evaluate("abut.source.frames.length")  # awaits promises; raises what the page raises
        rgb = page.screenshot()                     # numpy [height, width, 3]
        page.trouble                                # console errors and warnings, exceptions, requests that left the page
"""
import base64, json, os, select, shutil, subprocess, tempfile, time


class Browser:
    def __init__(self, size=(1100, 800)):
        self.program = os.environ.get("CHROMIUM") or shutil.which("chromium")
        self.size = size

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="abut-chromium-")
        read_there, self.to = os.pipe()
        self.at, write_there = os.pipe()
        os.set_inheritable(read_there, True), os.set_inheritable(write_there, True)

        def pipes():        # the protocol is read from 3 and written to 4
            a, b = os.dup(read_there), os.dup(write_there)
            os.dup2(a, 3), os.dup2(b, 4)
        self.process = subprocess.Popen(
            [self.program, "--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--use-angle=swiftshader",
             "--enable-unsafe-swiftshader", "--hide-scrollbars", "--no-first-run", "--disable-extensions", "--mute-audio",
             "--disable-background-networking", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--user-data-dir=" + self.home, "--window-size=%d,%d" % self.size, "about:blank"],
            preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_there), os.close(write_there)
        self.left, self.number, self.events, self.reader = b"", 0, [], None
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to), os.close(self.at)
        shutil.rmtree(self.home, ignore_errors=True)

    def take(self, seconds):
        """The next message; None after so many seconds without one."""
        while b"\0" not in self.left:
            if not select.select([self.at], [], [], seconds)[0]:
                return None
            data = os.read(self.at, 1 << 20)
            if not data:
                raise RuntimeError("chromium has ended")
            self.left += data
        message, self.left = self.left.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, params=None, session=None, seconds=60):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        end = time.time() + seconds
        while time.time() < end:
            answer = self.take(end - time.time())
            if answer is None:
                break
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.events.append(answer)
        raise RuntimeError("%s: no answer in %g s" % (method, seconds))

    def pixels(self, png):
        """Of a PNG in base64, which an empty page reads for us: a numpy array [height, width, 3]."""
        import numpy as np
        if not self.reader:
            self.reader = Page(self, self.attach(), "about:blank")
        w, h, data = self.reader.evaluate("""(async () => {
            const bytes = Uint8Array.from(atob("%s"), (c) => c.charCodeAt(0));
            const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
            const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            const url = new FileReader();
            const done = new Promise((wake) => { url.onload = wake; });
            url.readAsDataURL(new Blob([context.getImageData(0, 0, image.width, image.height).data]));
            await done;
            return [image.width, image.height, url.result.split(",")[1]];
        })()""" % png)
        return np.frombuffer(base64.b64decode(data), "u1").reshape(h, w, 4)[:, :, :3]

    def attach(self):
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        return self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]

    def open(self, url):
        return Page(self, self.attach(), url)


class Page:
    def __init__(self, browser, session, url):
        self.browser, self.session, self.url = browser, session, url
        for domain in ("Runtime", "Page", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", {"width": browser.size[0], "height": browser.size[1], "deviceScaleFactor": 1,
                                                         "mobile": False})
        self.call("Page.bringToFront")      # others are not drawn
        self.call("Page.navigate", {"url": url})
        self.wait("document.readyState === 'complete'")

    def call(self, method, params=None):
        return self.browser.call(method, params, self.session)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", {"expression": "(async () => (%s))()" % expression, "awaitPromise": True,
                                                "returnByValue": True})
        if "exceptionDetails" in answer:
            detail = answer["exceptionDetails"]
            raise RuntimeError(detail.get("exception", {}).get("description", detail["text"]))
        return answer["result"].get("value")

    def wait(self, condition, seconds=40):
        self.call("Page.bringToFront")      # what is behind does not play
        end = time.time() + seconds
        while time.time() < end:
            if self.evaluate(condition):
                return
            time.sleep(0.05)
        raise RuntimeError("%s: not so after %g s; %s" % (condition, seconds, self.trouble))

    @property
    def trouble(self):
        found = []
        for e in self.browser.events:
            if e.get("sessionId") != self.session:
                continue
            p, method = e.get("params", {}), e["method"]
            if method == "Runtime.exceptionThrown":
                found.append(p["exceptionDetails"].get("exception", {}).get("description", p["exceptionDetails"]["text"]))
            elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                found.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
            elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                found.append(p["entry"]["text"] + " " + p["entry"].get("url", ""))
            elif method == "Network.requestWillBeSent" and self.outside(p["request"]["url"]):
                found.append("asked for " + p["request"]["url"])
        return found

    def outside(self, url):
        base = self.url.split("#")[0]
        own = base.rsplit("/", 1)[0] + "/" if base.startswith("http") else base
        return not url.startswith((own, "data:", "blob:"))

    def screenshot(self, path=None):
        """What is seen, as a numpy array [height, width, 3]; path: where the PNG is kept."""
        self.call("Page.bringToFront")
        data = self.call("Page.captureScreenshot", {"format": "png"})["data"]
        if path:
            with open(path, "wb") as f:
                f.write(base64.b64decode(data))
        return self.browser.pixels(data)
